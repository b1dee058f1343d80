import type { Message } from '../../chat/chat.ts'
import { idDigestOf, indexedText } from './derived.ts'
import { optional, required, type SqliteRow, type Table } from './table.ts'

const live = `substr(user_id, 1, 1) <> '~'`
const liveThreads = `SELECT thread_id FROM response_thread WHERE ${live}`
const ofLiveResponse = `number IN (SELECT number FROM response WHERE thread_id IN (${liveThreads}))`

/** Columns of PostgreSQL that follow from a message. */
interface MessageColumns {
  readonly role: string
  readonly indexed: readonly string[] | null
  readonly terms: string | null
}

const known = new WeakMap<SqliteRow, MessageColumns>()

function columnsOf(row: SqliteRow): MessageColumns {
  const before = known.get(row)
  if (before) return before
  const message = JSON.parse(row['message'] as string) as Message
  const isIndexed = row['text_id'] !== null && row['reader'] !== null
  const { lexemes, terms } = isIndexed ? indexedText(row['reader'] as number, message) : { lexemes: null, terms: null }
  const columns = { role: message.role, indexed: lexemes, terms }
  known.set(row, columns)
  return columns
}

/** Conversations and responses. The full-text index of messages is made again on each side. Costs are nano-USD. */
export const chatTables: readonly Table[] = [
  {
    // A number for each user, which stands before each indexed term: a search reads the postings of its own user alone.
    name: 'conversation_reader',
    rows: 'readers of conversations',
    key: 'reader',
    columns: { reader: { type: 'int4', isNumbered: true }, ...required('text', 'user_id') },
    indexes: { conversation_reader_user: 'user_id' },
    where: live,
  },
  {
    name: 'conversation',
    rows: 'conversations',
    key: 'id',
    unique: ['user_id, name'],
    columns: {
      ...required('text', 'id user_id name'),
      // A conversation stays when its persona is removed.
      ...optional('text', 'persona_id'),
      ...required('int8', 'created_at updated_at'),
      // Written by earlier builds.
      ...optional('text', 'summary'),
      ...optional('int8', 'ended_at'),
      // A single question without a name of its own, of which only the newest are kept.
      kept: { type: 'bool', default: false },
      pinned: { type: 'bool', default: false },
      // Its messages have the numbers 1 to this.
      messages: {
        type: 'int4',
        default: 0,
        expression: '(SELECT ifnull(max(number), 0) FROM conversation_message WHERE conversation_id = conversation.id)',
      },
      // Of a branch: the first conversation of its family, the one that it left, and how many messages it took from there.
      ...optional('text', 'branch_root branch_of'),
      ...optional('int4', 'branch_at'),
    },
    indexes: {
      conversation_of_user: { sqlite: 'user_id, updated_at', postgres: 'user_id, updated_at DESC, id' },
      conversation_kept: {
        sqlite: 'user_id, updated_at WHERE kept = 1',
        postgres: 'user_id, updated_at DESC, id WHERE kept',
      },
      conversation_pinned: {
        sqlite: 'user_id, updated_at WHERE pinned = 1',
        postgres: 'user_id, updated_at DESC, id WHERE pinned',
      },
      conversation_of_family: 'branch_root WHERE branch_root IS NOT NULL',
      conversation_of_persona: 'persona_id WHERE persona_id IS NOT NULL',
    },
    where: live,
  },
  {
    name: 'conversation_message',
    rows: 'messages',
    key: 'conversation_id, number',
    isWithoutRowid: true,
    columns: {
      conversation_id: { type: 'text', goesWith: 'conversation.id' },
      ...required('int4', 'number'),
      ...required('text', 'message'),
      ...required('int8', 'timestamp'),
      ...optional('int8', 'cost'),
      // An AnswerRecord as JSON; NULL where nothing is known.
      ...optional('text', 'answer'),
      // The number of its row in SQLite's full-text index.
      text_id: {
        type: 'int8',
        isOptional: true,
        only: 'sqlite',
        derived: ({ terms, saved }) => (terms === null ? null : saved!),
      },
      role: { type: 'text', derived: (row) => columnsOf(row).role },
      // The terms of a message that is searched: once each behind the mark of its reader, and all of them in order.
      indexed: { type: 'tsvector', isOptional: true, derived: (row) => columnsOf(row).indexed },
      terms: { type: 'text', isOptional: true, derived: (row) => columnsOf(row).terms },
      // In the order of saving, over all conversations; in SQLite only those of the index have one.
      saved: { type: 'int8', isNumbered: true, derived: ({ text_id }) => text_id ?? 0, compared: false },
    },
    indexes: { conversation_message_text: { postgres: 'USING gin (indexed) WHERE indexed IS NOT NULL' } },
    uniqueIndexes: { conversation_message_text: { sqlite: 'text_id WHERE text_id IS NOT NULL' } },
    reads: {
      text_id: 'text_id',
      reader: `(SELECT min(reader) FROM conversation_reader JOIN conversation USING (user_id)
        WHERE conversation.id = conversation_id)`,
    },
    where: `conversation_id IN (SELECT id FROM conversation WHERE ${live})`,
  },
  {
    // The pictures and files that messages name by the SHA-256 of their bytes, each once in a conversation.
    name: 'conversation_file',
    rows: 'files of conversations',
    key: 'conversation_id, hash',
    columns: {
      conversation_id: { type: 'text', goesWith: 'conversation.id' },
      ...required('text', 'hash'),
      ...required('int8', 'added_at'),
      // The length of its bytes.
      ...required('int4', 'size'),
      ...required('bytea', 'bytes'),
    },
    where: `conversation_id IN (SELECT id FROM conversation WHERE ${live})`,
  },
  {
    // Processes that work on rows with their mark, see process-lease.ts.
    name: 'process_lease',
    only: 'postgres',
    key: 'mark',
    columns: { ...required('text', 'mark'), ...required('timestamptz', 'until') },
  },
  {
    // Responses that continue each other, or a conversation: kept, and removed, together. `bytes` is the length of JSON.
    name: 'response_thread',
    rows: 'threads of responses',
    key: 'thread_id',
    columns: {
      thread_id: { type: 'int8', isNumbered: true },
      ...required('text', 'user_id'),
      ...required('int8', 'used_at'),
      ...required('int4', 'responses'),
      ...required('int8', 'bytes'),
    },
    indexes: { response_thread_of_user: 'user_id, used_at, thread_id', response_thread_age: 'used_at' },
    where: live,
  },
  {
    name: 'response',
    rows: 'responses',
    key: 'number',
    columns: {
      number: { type: 'int8', isNumbered: true },
      thread_id: { type: 'int8', goesWith: 'response_thread.thread_id' },
      id: { type: 'text', isUnique: true },
      // The API key that it was made with, and the response that it continues.
      ...optional('text', 'key_id previous'),
      ...required('int8', 'created_at'),
      // The mark of the process that works on it; NULL for a finished one.
      ...optional('text', 'process'),
      ...required('int4', 'items'),
      ...required('int8', 'bytes'),
      // JSON, its output left empty.
      ...required('text', 'document'),
    },
    indexes: {
      response_of_thread: 'thread_id, number',
      response_unfinished: 'process WHERE process IS NOT NULL',
    },
    where: `thread_id IN (${liveThreads})`,
  },
  {
    name: 'response_item',
    rows: 'items of responses',
    key: 'number, position',
    columns: {
      number: { type: 'int8', goesWith: 'response.number' },
      // Input from 0 on, output from 1,000,000 on.
      ...required('int4', 'position'),
      id: {
        type: 'text',
        isOptional: true,
        only: 'sqlite',
        derived: ({ item }) => (JSON.parse(item as string) as { id?: string }).id ?? null,
      },
      ...required('text', 'item'),
      // The SHA-256 of an id, which may be longer than PostgreSQL's indexes take.
      id_digest: {
        type: 'bytea',
        isOptional: true,
        derived: ({ id }) => (id === null ? null : idDigestOf(id as string)),
      },
    },
    indexes: {
      response_item_id: { sqlite: 'id, number', postgres: 'id_digest, number WHERE id_digest IS NOT NULL' },
    },
    reads: { id: 'id' },
    where: ofLiveResponse,
  },
]
