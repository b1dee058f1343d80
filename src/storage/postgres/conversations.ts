import type { AnswerRecord, ConversationStore, SavedMessage } from '../../personas/chat/conversation.ts'
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
import type { Context } from './context.ts'
import { indexedText, readerOf, readersOf, searchCondition } from './conversations-text.ts'
import { isTaken } from './errors.ts'
import type { OwnedRows } from './owned-rows.ts'
import type { Transaction } from './sql.ts'

const columns = 'id, user_id, name, persona_id, created_at, updated_at, summary, ended_at, messages'

/** Saved conversations in PostgreSQL. */
export function createConversationStore({ db }: Context): ConversationStore {
  return {
    async create({ id, user_id, name, persona_id, created_at }) {
      const made = await db.run(
        `INSERT INTO conversation (id, user_id, name, persona_id, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $5)
           ON CONFLICT (user_id, name) DO NOTHING`,
        [id, user_id, name, persona_id ?? null, created_at],
      )
      return made > 0
    },
    async find(id) {
      const row = await db.row<ConversationRow>(`SELECT ${columns} FROM conversation WHERE id = $1`, [id])
      return row && conversationOf(row)
    },
    async named(owner, name) {
      const { composed, decomposed } = formsOf(name)
      const row = await db.row<ConversationRow>(
        `SELECT ${columns} FROM conversation WHERE user_id = $1 AND name IN ($2, $3, $4)
           ORDER BY name <> $2, name <> $3 LIMIT 1`,
        [owner, name, composed, decomposed],
      )
      return row && conversationOf(row)
    },
    async list(owner, limit, offset, personas) {
      const place = `FROM conversation WHERE user_id = $1${personas ? ' AND persona_id = ANY ($2::text[])' : ''}`
      const wanted = [owner, ...(personas ? [personas] : [])]
      const at = wanted.length
      const [rows, counted] = await Promise.all([
        db.rows<ConversationRow>(
          `SELECT ${columns} ${place} ORDER BY updated_at DESC, id LIMIT $${at + 1} OFFSET $${at + 2}`,
          [...wanted, limit, offset],
        ),
        db.row<{ total: number }>(`SELECT count(*) AS total ${place}`, wanted),
      ])
      return { conversations: rows.map(conversationOf), total: counted!.total }
    },
    async messages(owner, id) {
      const rows = await db.rows<MessageRow>(
        `SELECT message, timestamp, cost, answer FROM conversation_message
          WHERE conversation_id = (SELECT id FROM conversation WHERE id = $1 AND user_id = $2) ORDER BY number`,
        [id, owner],
      )
      return rows.map(messageOf)
    },
    append: (owner, id, messages, expected) =>
      db.transaction(async (tx) => {
        const before = await lockedCount(tx, owner, id, expected)
        if (before === undefined) return undefined
        await write(tx, owner, id, messages, before)
        await goOn(tx, id, Math.max(0, ...messages.map(({ timestamp }) => timestamp)))
        return before + messages.length
      }),
    keep: ({ id, user_id, persona_id, created_at }, names, messages, most) =>
      db.transaction(async (tx) => {
        const name = await firstFree(names, (each) =>
          tx.run(
            `INSERT INTO conversation (id, user_id, name, persona_id, created_at, updated_at, ended_at, kept)
               VALUES ($1, $2, $3, $4, $5, $5, $5, true) ON CONFLICT (user_id, name) DO NOTHING`,
            [id, user_id, each, persona_id ?? null, created_at],
          ),
        )
        if (name === undefined) return undefined
        await write(tx, user_id, id, messages, 0)
        // Where the number was lowered, the others go with the next ones. One that another process uses goes later.
        await tx.run(
          `DELETE FROM conversation WHERE id IN (SELECT id FROM conversation WHERE id IN (
             SELECT id FROM conversation WHERE user_id = $1 AND kept ORDER BY updated_at DESC, id
               LIMIT ${mostTrimmed} OFFSET $2) ORDER BY id FOR UPDATE SKIP LOCKED)`,
          [user_id, most],
        )
        return name
      }),
    takeBack: (owner, id, expected) => db.transaction((tx) => takeBack(tx, owner, id, expected)),
    async recordMemories(owner, id, number, memories) {
      await db.transaction(async (tx) => {
        const row = await tx.row<{ answer: string | null }>(
          `SELECT answer FROM conversation_message WHERE number = $3
             AND conversation_id = (SELECT id FROM conversation WHERE id = $1 AND user_id = $2) FOR UPDATE`,
          [id, owner, number],
        )
        if (!row) return
        const answer: AnswerRecord = { ...JSON.parse(row.answer ?? '{}'), memories }
        await tx.run('UPDATE conversation_message SET answer = $3 WHERE conversation_id = $1 AND number = $2', [
          id,
          number,
          JSON.stringify(answer),
        ])
      })
    },
    async rename(owner, id, name) {
      try {
        const renamed = await db.run('UPDATE conversation SET name = $3, kept = false WHERE id = $1 AND user_id = $2', [
          id,
          owner,
          name,
        ])
        return renamed > 0
      } catch (reason) {
        if (isTaken(reason)) return false
        throw reason
      }
    },
    async remove(owner, id) {
      return (await db.run('DELETE FROM conversation WHERE id = $1 AND user_id = $2', [id, owner])) > 0
    },
    removeBefore: (owner, before) =>
      db.transaction(
        (tx) =>
          tx.run('DELETE FROM conversation WHERE user_id = $1 AND ($2::bigint IS NULL OR updated_at < $2)', [
            owner,
            before ?? null,
          ]),
        { statementTimeout: 0 },
      ),
    async search(owner, { groups, since, personas, limit, offset }) {
      const readers = groups.length === 0 ? [] : await readersOf(db, owner)
      if (readers.length === 0) return []
      const { condition, values } = searchCondition(readers, groups, 6)
      const rows = await db.rows<FoundRow>(
        `SELECT conversation.id, name, persona_id, number, message, timestamp, cost, answer
           FROM conversation_message JOIN conversation ON conversation.id = conversation_id
          WHERE user_id = $1 AND ($2::bigint IS NULL OR timestamp >= $2)
            AND ($3::text[] IS NULL OR persona_id = ANY ($3)) AND ${condition}
          ORDER BY saved DESC LIMIT $4 OFFSET $5`,
        [owner, since ?? null, personas ?? null, limit, offset, ...values],
      )
      return rows.map(foundOf)
    },
    async end(owner, id, { messages, summary, at }) {
      const ended = await db.run(
        'UPDATE conversation SET summary = $4, ended_at = $5 WHERE id = $1 AND user_id = $2 AND messages = $3',
        [id, owner, messages, summary ?? null, at],
      )
      return ended > 0
    },
    async unended(owner, before, limit) {
      const rows = await db.rows<ConversationRow>(
        `SELECT ${columns} FROM conversation
          WHERE user_id = $1 AND ended_at IS NULL AND updated_at < $2 AND messages > 0
          ORDER BY updated_at DESC, id LIMIT $3`,
        [owner, before, limit],
      )
      return rows.map(conversationOf)
    },
  }
}

/** Conversations when users come and go. */
export const conversationOwnership: OwnedRows = {
  async reassign(tx, from, to) {
    // A name that the new owner has already gets the id's beginning behind it.
    await tx.run(
      `UPDATE conversation SET user_id = $2, name = CASE WHEN EXISTS (SELECT 1 FROM conversation AS other
           WHERE other.user_id = $2 AND other.name = conversation.name)
         THEN name || ' ' || left(id, 8) ELSE name END WHERE user_id = $1`,
      [from, to],
    )
    await tx.run('UPDATE conversation_reader SET user_id = $2 WHERE user_id = $1', [from, to])
  },
  async remove(tx, owner) {
    await tx.run('DELETE FROM conversation WHERE user_id = $1', [owner])
    await tx.run('DELETE FROM conversation_reader WHERE user_id = $1', [owner])
  },
}

/** Locks a conversation; the number of its messages, undefined where the owner has none such, or it is not the expected one. */
async function lockedCount(
  tx: Transaction,
  owner: string,
  id: string,
  expected: number | undefined,
): Promise<number | undefined> {
  const row = await tx.row<{ messages: number }>(
    'SELECT messages FROM conversation WHERE id = $1 AND user_id = $2 FOR UPDATE',
    [id, owner],
  )
  return expected === undefined || row?.messages === expected ? row?.messages : undefined
}

/** Writes messages behind those that are there. They leave from the end alone, so their numbers are 1 to their count. */
async function write(
  tx: Transaction,
  owner: string,
  id: string,
  messages: readonly SavedMessage[],
  before: number,
): Promise<void> {
  if (messages.length === 0) return
  const reader = await readerOf(tx, owner)
  const inserts = messages.map(({ message, timestamp, cost = null, answer }, at) => {
    const { lexemes, terms } = indexedText(reader, message)
    return tx.run(
      `INSERT INTO conversation_message (conversation_id, number, role, message, timestamp, cost, answer, indexed, terms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, array_to_tsvector($8::text[]), $9)`,
      [
        ...[id, before + at + 1, message.role, JSON.stringify(message), timestamp, cost],
        ...[answer ? JSON.stringify(answer) : null, lexemes, terms],
      ],
    )
  })
  await Promise.all(inserts)
  await tx.run('UPDATE conversation SET messages = $2 WHERE id = $1', [id, before + messages.length])
}

/** Takes the end and the summary of a conversation away. */
async function goOn(tx: Transaction, id: string, latest: number): Promise<void> {
  await tx.run(
    `UPDATE conversation SET updated_at = greatest(updated_at, $2), summary = NULL, ended_at = NULL, kept = false
      WHERE id = $1`,
    [id, latest],
  )
}

async function takeBack(
  tx: Transaction,
  owner: string,
  id: string,
  expected: number | undefined,
): Promise<readonly SavedMessage[] | undefined> {
  if ((await lockedCount(tx, owner, id, expected)) === undefined) return undefined
  const last = await tx.row<{ number: number }>(
    `SELECT number FROM conversation_message WHERE conversation_id = $1 AND role = 'user' ORDER BY number DESC LIMIT 1`,
    [id],
  )
  if (!last) return []
  const taken = await tx.rows<MessageRow & { number: number }>(
    'DELETE FROM conversation_message WHERE conversation_id = $1 AND number >= $2 RETURNING number, message, timestamp, cost, answer',
    [id, last.number],
  )
  await tx.run('UPDATE conversation SET messages = $2 WHERE id = $1', [id, last.number - 1])
  await goOn(tx, id, 0)
  return taken.toSorted((a, b) => a.number - b.number).map(messageOf)
}

/** The first of the names that was not given yet. */
async function firstFree(
  names: readonly string[],
  insert: (name: string) => Promise<number>,
): Promise<string | undefined> {
  for (const name of names) if ((await insert(name)) > 0) return name
  return undefined
}
