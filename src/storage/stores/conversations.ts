import type {
  Among,
  AnswerRecord,
  Conversation,
  ConversationSearch,
  ConversationStore,
  MessagePart,
  NewConversation,
  SavedMessage,
} from '../../personas/personas.ts'
import {
  among,
  forUpdate,
  greatest,
  isTaken,
  least,
  row,
  rows,
  run,
  type Statement,
  type StoreDatabase,
  skipLocked,
  sql,
  together,
  type Work,
  word,
} from '../port/port.ts'
import { hiddenOwner } from '../shared/hidden-owner.ts'
import { copyFiles, filesOf, removeUnnamed, writeFiles } from './conversation-files.ts'
import {
  type ConversationRow,
  conversationOf,
  type FoundRow,
  formsOf,
  foundOf,
  type MessageRow,
  messageOf,
  mostTrimmed,
} from './conversation-rows.ts'
import { type ConversationText, readerOf, readersOf } from './conversation-text.ts'
import type { OwnedRows } from './owned-rows.ts'

/** How many messages a conversation has: they leave from the end alone, so that their numbers are 1 to this. */
const lastNumber = '(SELECT coalesce(max(number), 0) FROM conversation_message WHERE conversation_id = conversation.id)'

/** The same in a query; PostgreSQL keeps the number, by a part of each UPDATE. */
const messages = word(lastNumber, 'messages')
const counted = word('', `messages = ${lastNumber},`)

/** Removes the conversations of the condition behind it. SQLite hides them, and removes their rows afterwards. */
const leave = word(
  `UPDATE conversation SET user_id = '${hiddenOwner}/' || id, persona_id = NULL`,
  'DELETE FROM conversation',
)

const isKept = word('kept = 1', 'kept')
const isPinned = word('pinned = 1', 'pinned')

const isUsers = word(`message ->> '$.role' = 'user'`, `role = 'user'`)

/** Messages that are searched, with their conversations; and the order in which they were saved. */
const searched = word(
  'conversation_text CROSS JOIN conversation_message ON text_id = conversation_text.rowid CROSS JOIN conversation',
  'conversation_message JOIN conversation',
)
const saved = word('conversation_text.rowid', 'saved')

const selected = sql`SELECT id, user_id, name, persona_id, branch_root, branch_of, branch_at, created_at, updated_at, pinned,
  ${messages} AS messages FROM conversation`

/** Saved conversations. */
export function createConversationStore(db: StoreDatabase, text: ConversationText): ConversationStore {
  return {
    create: async (conversation) => (await db.run(inserting(conversation))) > 0,
    find: async (id) => db.read(found(sql`id = ${id} AND user_id NOT LIKE '~%'`)),
    async named(owner, name) {
      const { composed, decomposed } = formsOf(name)
      return db.read(
        found(sql`user_id = ${owner} AND name IN (${name}, ${composed}, ${decomposed})
          ORDER BY name <> ${name}, name <> ${composed} LIMIT 1`),
      )
    },
    list: async (owner, limit, offset, among) => db.read(list(owner, limit, offset, among)),
    messages: async (owner, id, part) => db.read(messagesOf(owner, id, part)),
    files: async (owner, id, hashes) => db.read(filesOf(owner, id, hashes)),
    append: (owner, id, added, expected) => db.write(() => append(text, owner, id, added, expected)),
    keep: (conversation, names, kept, most) => db.write(() => keep(text, conversation, names, kept, most)),
    branch: (conversation, source, names) => db.write(() => branch(text, conversation, source, names)),
    family: async (owner, root) => db.read(family(owner, root)),
    takeBack: (owner, id, expected) => db.write(() => takeBack(owner, id, expected)),
    recordMemories: (owner, id, number, memories) => db.write(() => recordMemories(owner, id, number, memories)),
    async rename(owner, id, name) {
      try {
        const renamed = await db.run(
          sql`UPDATE conversation SET name = ${name}, kept = ${false} WHERE id = ${id} AND user_id = ${owner}`,
        )
        return renamed > 0
      } catch (reason) {
        if (isTaken(reason)) return false
        throw reason
      }
    },
    pin: async (owner, id, pinned) =>
      void (await db.run(
        sql`UPDATE conversation SET pinned = ${pinned}, kept = ${false} WHERE id = ${id} AND user_id = ${owner}`,
      )),
    remove: async (owner, id) =>
      (await db.remove(() => run(sql`${leave} WHERE id = ${id} AND user_id = ${owner}`))) > 0,
    removeBefore: (owner, before) =>
      db.remove(() =>
        run(
          sql`${leave} WHERE user_id = ${owner} AND ${before === undefined ? sql`true` : sql`updated_at < ${before}`}`,
        ),
      ),
    search: async (owner, search) => db.read(find(text, owner, search)),
  }
}

/** Conversations when users come and go. */
export const conversationOwnership: OwnedRows = {
  *reassign(from, to) {
    yield* together(
      // A name that the new owner has already gets the id's beginning behind it.
      run(
        sql`UPDATE conversation SET user_id = ${to}, name = CASE WHEN EXISTS (SELECT 1 FROM conversation AS other
              WHERE other.user_id = ${to} AND other.name = conversation.name)
            THEN name || ' ' || substr(id, 1, 8) ELSE name END WHERE user_id = ${from}`,
      ),
      run(sql`UPDATE conversation_reader SET user_id = ${to} WHERE user_id = ${from}`),
    )
  },
  *remove(owner) {
    yield* together(
      run(sql`${leave} WHERE user_id = ${owner}`),
      run(sql`DELETE FROM conversation_reader WHERE user_id = ${owner}`),
    )
  },
}

function inserting({ id, user_id, name, persona_id, branch, created_at }: NewConversation): Statement {
  return sql`INSERT INTO conversation
      (id, user_id, name, persona_id, branch_root, branch_of, branch_at, created_at, updated_at)
    VALUES (${id}, ${user_id}, ${name}, ${persona_id}, ${branch?.root}, ${branch?.of}, ${branch?.at}, ${created_at},
      ${created_at})
    ON CONFLICT (user_id, name) DO NOTHING`
}

function* found(where: Statement): Work<Conversation | undefined> {
  const first = yield* row<ConversationRow>(sql`${selected} WHERE ${where}`)
  return first && conversationOf(first)
}

function isWith(personas: readonly string[] | undefined): Statement {
  return personas ? sql`persona_id ${among(personas)}` : sql`true`
}

/**
 * The condition that a name holds each word, in any case: LIKE alone may tell the cases of letters beyond ASCII apart.
 * No name holds a NUL, at which SQLite would end the pattern.
 */
function isNamed(words: readonly string[]): Statement {
  if (words.some((each) => each.includes('\0'))) return sql`false`
  return words.reduce((condition, typed) => {
    const lower = typed.toLowerCase()
    const capital = lower.charAt(0).toUpperCase() + lower.slice(1)
    const [first, ...others] = [lower, capital, lower.toUpperCase()].map(
      (each) => sql`name ${word('LIKE', 'ILIKE')} ${`%${each.replace(/[\\%_]/g, '\\$&')}%`} ESCAPE '\\'`,
    )
    return sql`${condition} AND (${others.reduce((any, each) => sql`${any} OR ${each}`, first!)})`
  }, sql`true`)
}

function* list(owner: string, limit: number, offset: number, { personas, pinned, words = [] }: Among = {}) {
  const isWanted = sql`user_id = ${owner} AND ${isWith(personas)} AND ${pinned ? isPinned : sql`true`} AND ${isNamed(words)}`
  const [page, number] = yield* together(
    rows<ConversationRow>(
      sql`${selected} WHERE ${isWanted} ORDER BY updated_at DESC, id LIMIT ${limit} OFFSET ${offset}`,
    ),
    row<{ total: number }>(sql`SELECT count(*) AS total FROM conversation WHERE ${isWanted}`),
  )
  return { conversations: page.map(conversationOf), total: number!.total }
}

/** The condition on a message to be in a conversation of an owner. */
function isIn(owner: string, id: string): Statement {
  return sql`conversation_id = (SELECT id FROM conversation WHERE id = ${id} AND user_id = ${owner})`
}

function* messagesOf(owner: string, id: string, { after = 0, upTo }: MessagePart = {}): Work<readonly SavedMessage[]> {
  const isWanted = upTo === undefined ? sql`number > ${after}` : sql`number > ${after} AND number <= ${upTo}`
  const all = yield* rows<MessageRow>(
    sql`SELECT message, timestamp, cost, answer FROM conversation_message
        WHERE ${isIn(owner, id)} AND ${isWanted} ORDER BY number`,
  )
  return all.map(messageOf)
}

function* find(text: ConversationText, owner: string, { groups, since, personas, limit, offset }: ConversationSearch) {
  const readers = groups.length === 0 ? [] : yield* readersOf(owner)
  if (readers.length === 0) return []
  const isSince = since === undefined ? sql`true` : sql`conversation_message.timestamp >= ${since}`
  const all = yield* rows<FoundRow>(
    sql`SELECT conversation.id, name, persona_id, number, message, conversation_message.timestamp, cost, answer
        FROM ${searched} ON conversation.id = conversation_id
        WHERE ${text.matching(readers, groups)} AND user_id = ${owner} AND ${isSince} AND ${isWith(personas)}
        ORDER BY ${saved} DESC LIMIT ${limit} OFFSET ${offset}`,
  )
  return all.map(foundOf)
}

/** Locks a conversation; the number of its messages, undefined where the owner has none such, or it is not the expected one. */
function* lockedCount(owner: string, id: string, expected: number | undefined): Work<number | undefined> {
  const locked = yield* row<{ messages: number }>(
    sql`SELECT ${messages} AS messages FROM conversation WHERE id = ${id} AND user_id = ${owner} ${forUpdate}`,
  )
  return expected === undefined || locked?.messages === expected ? locked?.messages : undefined
}

function* append(
  text: ConversationText,
  owner: string,
  id: string,
  added: readonly SavedMessage[],
  expected: number | undefined,
) {
  const before = yield* lockedCount(owner, id, expected)
  if (before === undefined) return undefined
  yield* write(
    text,
    owner,
    id,
    added,
    before,
    settle(id, Math.max(0, ...added.map(({ timestamp }) => timestamp)), false),
  )
  return before + added.length
}

function* keep(
  text: ConversationText,
  conversation: Omit<NewConversation, 'name'>,
  names: readonly string[],
  added: readonly SavedMessage[],
  most: number,
) {
  const { id, user_id } = conversation
  const name = yield* firstFree(conversation, names)
  if (name === undefined) return undefined
  yield* write(text, user_id, id, added, 0, settle(id, 0, true))
  // Where the number was lowered, the others go with the next ones. One that another process uses goes later.
  const kept = sql`FROM conversation WHERE user_id = ${user_id} AND ${isKept}`
  yield* run(
    sql`DELETE FROM conversation WHERE id IN (SELECT id FROM conversation WHERE id IN (
          SELECT id ${kept} ORDER BY updated_at, id DESC
          LIMIT ${greatest}(0, ${least}(${mostTrimmed}, (SELECT count(*) ${kept}) - ${most}))) ORDER BY id ${skipLocked})`,
  )
  return name
}

function* branch(
  text: ConversationText,
  conversation: Omit<NewConversation, 'name'> & Required<Pick<Conversation, 'branch'>>,
  source: string,
  names: readonly string[],
) {
  const { id, user_id, branch: from } = conversation
  const copied = (yield* messagesOf(user_id, source, { upTo: from.at })).map(({ answer, ...message }) => {
    const { memories: _, ...record } = answer ?? {}
    return { ...message, ...(answer && { answer: record }) }
  })
  const name = yield* firstFree(conversation, names)
  if (name === undefined) return undefined
  yield* write(text, user_id, id, copied, 0, settle(id, 0, false))
  yield* copyFiles(source, id)
  return name
}

function* family(owner: string, root: string) {
  const all = yield* rows<ConversationRow>(
    sql`${selected} WHERE user_id = ${owner} AND (id = ${root} OR branch_root = ${root}) ORDER BY created_at, id`,
  )
  return all.map(conversationOf)
}

/** Creates a conversation with the first of the names that is not given yet. */
function* firstFree(conversation: Omit<NewConversation, 'name'>, names: readonly string[]): Work<string | undefined> {
  for (const name of names) if ((yield* run(inserting({ ...conversation, name }))) > 0) return name
  return undefined
}

/** Writes messages behind those that are there, and the conversation's row after them. */
function* write(
  text: ConversationText,
  owner: string,
  id: string,
  added: readonly SavedMessage[],
  before: number,
  end: Work<unknown>,
): Work<void> {
  const reader = added.length === 0 ? 0 : yield* readerOf(owner)
  yield* together(...added.map((message, at) => text.write(reader, { id, number: before + at + 1, message })), end)
  if (added.some(({ files = [] }) => files.length > 0)) yield* writeFiles(owner, id, added)
}

/** Brings the row of a conversation up to its messages. */
function settle(id: string, latest: number, isKept: boolean): Work<unknown> {
  return run(
    sql`UPDATE conversation SET ${counted} updated_at = ${greatest}(updated_at, ${latest}), kept = ${isKept} WHERE id = ${id}`,
  )
}

function* takeBack(owner: string, id: string, expected: number | undefined) {
  if ((yield* lockedCount(owner, id, expected)) === undefined) return undefined
  const last = yield* row<{ number: number }>(
    sql`SELECT number FROM conversation_message WHERE conversation_id = ${id} AND ${isUsers} ORDER BY number DESC LIMIT 1`,
  )
  if (!last) return []
  const [taken] = yield* together(
    rows<MessageRow & { number: number }>(
      sql`DELETE FROM conversation_message WHERE conversation_id = ${id} AND number >= ${last.number}
          RETURNING number, message, timestamp, cost, answer`,
    ),
    settle(id, 0, false),
  )
  yield* removeUnnamed(id, taken)
  return taken.toSorted((a, b) => a.number - b.number).map(messageOf)
}

function* recordMemories(owner: string, id: string, number: number, memories: readonly string[]): Work<void> {
  const recorded = yield* row<{ answer: string | null }>(
    sql`SELECT answer FROM conversation_message WHERE ${isIn(owner, id)} AND number = ${number} ${forUpdate}`,
  )
  if (!recorded) return
  const answer: AnswerRecord = { ...JSON.parse(recorded.answer ?? '{}'), memories }
  yield* run(
    sql`UPDATE conversation_message SET answer = ${JSON.stringify(answer)}
        WHERE conversation_id = ${id} AND number = ${number}`,
  )
}
