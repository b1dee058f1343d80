import type { ConversationStore, SavedMessage } from '../../personas/chat/conversation.ts'
import {
  type ConversationRow,
  conversationOf,
  type FoundRow,
  formsOf,
  foundOf,
  type MessageRow,
  messageOf,
  mostTrimmed,
} from '../shared/conversation-rows.ts'
import type { Database } from './connection.ts'
import { createConversationText } from './conversations-text.ts'
import type { OwnedRows } from './owned-rows.ts'
import { preparedOnce } from './prepared.ts'
import { hideConversations, removeHidden } from './removal.ts'

type KeptConversation = Parameters<ConversationStore['keep']>[0]

const columns = `id, user_id, name, persona_id, created_at, updated_at, summary, ended_at,
  (SELECT count(*) FROM conversation_message WHERE conversation_id = conversation.id) AS messages`

/** Saved conversations in SQLite. */
export function createConversationStore(db: Database): ConversationStore {
  const text = createConversationText(db)
  const prepare = preparedOnce(db)
  return {
    async create({ id, user_id, name, persona_id, created_at }) {
      const { changes } = prepare(
        `INSERT INTO conversation (id, user_id, name, persona_id, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)
             ON CONFLICT (user_id, name) DO NOTHING`,
      ).run(id, user_id, name, persona_id ?? null, created_at, created_at)
      return changes > 0
    },
    async find(id) {
      const row = prepare<[string], ConversationRow>(
        `SELECT ${columns} FROM conversation WHERE id = ? AND user_id NOT LIKE '~%'`,
      ).get(id)
      return row && conversationOf(row)
    },
    async named(owner, name) {
      const row = prepare<[{ owner: string; name: string; composed: string; decomposed: string }], ConversationRow>(
        `SELECT ${columns} FROM conversation WHERE user_id = @owner AND name IN (@name, @composed, @decomposed)
             ORDER BY name <> @name, name <> @composed LIMIT 1`,
      ).get({ owner, ...formsOf(name) })
      return row && conversationOf(row)
    },
    async list(owner, limit, offset, personas) {
      const among = personas && 'persona_id IN (SELECT value FROM json_each(@personas))'
      const place = `FROM conversation WHERE user_id = @owner${among ? ` AND ${among}` : ''}`
      const wanted = { owner, ...(personas && { personas: JSON.stringify(personas) }) }
      const conversations = prepare<[object], ConversationRow>(
        `SELECT ${columns} ${place} ORDER BY updated_at DESC, id LIMIT @limit OFFSET @offset`,
      )
        .all({ ...wanted, limit, offset })
        .map(conversationOf)
      const total = prepare<[object], number>(`SELECT count(*) ${place}`).pluck().get(wanted)!
      return { conversations, total }
    },
    async messages(owner, id) {
      return prepare<[string, string], MessageRow>(
        `SELECT message, conversation_message.timestamp, cost, answer FROM conversation_message
             JOIN conversation ON conversation.id = conversation_id
            WHERE conversation_id = ? AND user_id = ? ORDER BY number`,
      )
        .all(id, owner)
        .map(messageOf)
    },
    append: async (owner, id, messages, expected) =>
      db.transaction(() => append(owner, id, messages, expected)).immediate(),
    keep: async (conversation, names, messages, most) =>
      db.transaction(() => keep(conversation, names, messages, most)).immediate(),
    takeBack: async (owner, id, expected) => db.transaction(() => takeBack(owner, id, expected)).immediate(),
    async recordMemories(owner, id, number, memories) {
      prepare(
        `UPDATE conversation_message SET answer = json_set(ifnull(answer, '{}'), '$.memories', json(@memories))
          WHERE conversation_id = (SELECT id FROM conversation WHERE id = @id AND user_id = @owner) AND number = @number`,
      ).run({ owner, id, number, memories: JSON.stringify(memories) })
    },
    async rename(owner, id, name) {
      const { changes } = prepare(
        'UPDATE OR IGNORE conversation SET name = ?, kept = 0 WHERE id = ? AND user_id = ?',
      ).run(name, id, owner)
      return changes > 0
    },
    async remove(owner, id) {
      const removed = db.transaction(() => hideConversations(db, owner, id)).immediate() > 0
      if (removed) await removeHidden(db)
      return removed
    },
    async removeBefore(owner, before) {
      const removed = db.transaction(() => hideConversations(db, owner, undefined, before)).immediate()
      if (removed > 0) await removeHidden(db)
      return removed
    },
    async search(owner, search) {
      const query = text.queryOf(owner, search)
      if (query === undefined) return []
      const { since = null, personas = null, limit, offset } = search
      return prepare<[object], FoundRow>(
        `SELECT conversation.id, name, persona_id, number, message, conversation_message.timestamp, cost, answer
             FROM conversation_text
             CROSS JOIN conversation_message ON text_id = conversation_text.rowid
             CROSS JOIN conversation ON conversation.id = conversation_id
            WHERE conversation_text MATCH @query AND user_id = @owner
              AND (@since IS NULL OR conversation_message.timestamp >= @since)
              AND (@personas IS NULL OR persona_id IN (SELECT value FROM json_each(@personas)))
            ORDER BY conversation_text.rowid DESC LIMIT @limit OFFSET @offset`,
      )
        .all({ query, owner, since, personas: personas && JSON.stringify(personas), limit, offset })
        .map(foundOf)
    },
    async end(owner, id, { messages, summary, at }) {
      const { changes } = prepare(
        `UPDATE conversation SET summary = @summary, ended_at = @at WHERE id = @id AND user_id = @owner
             AND (SELECT count(*) FROM conversation_message WHERE conversation_id = conversation.id) = @messages`,
      ).run({ owner, id, messages, summary: summary ?? null, at })
      return changes > 0
    },
    async unended(owner, before, limit) {
      return prepare<[string, number, number], ConversationRow>(
        `SELECT ${columns} FROM conversation WHERE user_id = ? AND ended_at IS NULL AND updated_at < ?
             AND EXISTS (SELECT 1 FROM conversation_message WHERE conversation_id = conversation.id)
            ORDER BY updated_at DESC, id LIMIT ?`,
      )
        .all(owner, before, limit)
        .map(conversationOf)
    },
  }

  /** The number of messages; undefined where the owner has no such conversation, or it holds another number than expected. */
  function count(owner: string, id: string, expected: number | undefined): number | undefined {
    const number = prepare<[string, string], number>(
      `SELECT (SELECT count(*) FROM conversation_message WHERE conversation_id = conversation.id) FROM conversation
          WHERE id = ? AND user_id = ?`,
    )
      .pluck()
      .get(id, owner)
    return expected === undefined || number === expected ? number : undefined
  }

  function append(
    owner: string,
    id: string,
    messages: readonly SavedMessage[],
    expected: number | undefined,
  ): number | undefined {
    const before = count(owner, id, expected)
    if (before === undefined) return undefined
    const latest = Math.max(0, ...messages.map(({ timestamp }) => timestamp))
    goOn(id, latest)
    write(owner, id, messages, before)
    return before + messages.length
  }

  /** Writes messages behind those that are there. They leave from the end alone, so their numbers are 1 to their count. */
  function write(owner: string, id: string, messages: readonly SavedMessage[], before: number): void {
    const insert = prepare(
      `INSERT INTO conversation_message (conversation_id, number, message, timestamp, cost, answer, text_id)
         VALUES (@id, @number, @message, @timestamp, @cost, @answer, @text_id)`,
    )
    for (const [at, { message, timestamp, cost = null, answer }] of messages.entries())
      insert.run({
        id,
        number: before + at + 1,
        message: JSON.stringify(message),
        timestamp,
        cost,
        answer: answer ? JSON.stringify(answer) : null,
        text_id: text.add(owner, message),
      })
  }

  function keep(
    { id, user_id, persona_id, created_at }: KeptConversation,
    names: readonly string[],
    messages: readonly SavedMessage[],
    most: number,
  ): string | undefined {
    const create = prepare(
      `INSERT INTO conversation (id, user_id, name, persona_id, created_at, updated_at, ended_at, kept)
         VALUES (@id, @user_id, @name, @persona_id, @created_at, @created_at, @created_at, 1)
         ON CONFLICT (user_id, name) DO NOTHING`,
    )
    const name = names.find(
      (each) => create.run({ id, user_id, name: each, persona_id: persona_id ?? null, created_at }).changes > 0,
    )
    if (name === undefined) return undefined
    write(user_id, id, messages, 0)
    // Where the number was lowered, the others go with the next ones.
    prepare(
      `DELETE FROM conversation WHERE id IN (SELECT id FROM conversation WHERE user_id = ? AND kept = 1
         ORDER BY updated_at DESC, id LIMIT ${mostTrimmed} OFFSET ?)`,
    ).run(user_id, most)
    return name
  }

  /** Takes the end and the summary of a conversation away. */
  function goOn(id: string, latest: number): void {
    prepare(
      'UPDATE conversation SET updated_at = max(updated_at, ?), summary = NULL, ended_at = NULL, kept = 0 WHERE id = ?',
    ).run(latest, id)
  }

  function takeBack(owner: string, id: string, expected: number | undefined): readonly SavedMessage[] | undefined {
    if (count(owner, id, expected) === undefined) return undefined
    const last = prepare<[string], number>(
      `SELECT number FROM conversation_message WHERE conversation_id = ? AND message ->> '$.role' = 'user'
          ORDER BY number DESC LIMIT 1`,
    )
      .pluck()
      .get(id)
    if (last === undefined) return []
    const taken = prepare<[string, number], MessageRow>(
      `SELECT message, timestamp, cost, answer FROM conversation_message
          WHERE conversation_id = ? AND number >= ? ORDER BY number`,
    ).all(id, last)
    prepare('DELETE FROM conversation_message WHERE conversation_id = ? AND number >= ?').run(id, last)
    goOn(id, 0)
    return taken.map(messageOf)
  }
}

/** Conversations when users come and go. */
export const conversationOwnership: OwnedRows = {
  reassign(db, from, to) {
    // A name that the new owner has already gets the id's beginning behind it.
    db.prepare(
      `UPDATE conversation SET user_id = @to, name = CASE WHEN EXISTS (SELECT 1 FROM conversation AS other
           WHERE other.user_id = @to AND other.name = conversation.name)
         THEN name || ' ' || substr(id, 1, 8) ELSE name END WHERE user_id = @from`,
    ).run({ from, to })
    db.prepare('UPDATE conversation_reader SET user_id = ? WHERE user_id = ?').run(to, from)
  },
  remove(db, owner) {
    hideConversations(db, owner)
    db.prepare('DELETE FROM conversation_reader WHERE user_id = ?').run(owner)
  },
}
