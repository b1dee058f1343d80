import type { Message } from '../../chat/protocol/messages.ts'
import { indexedText } from '../postgres/conversations-text.ts'
import { idDigestOf } from '../postgres/responses-parts.ts'
import { plain, type SqliteRow, type TransferTable, type Value } from './table.ts'

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

/** Conversations and responses. The full-text index of messages is made anew on each side. */
export const chatTables: readonly TransferTable[] = [
  {
    name: 'conversation_reader',
    rows: 'readers of conversations',
    columns: { ...plain('int4', 'reader'), ...plain('text', 'user_id') },
    order: 'reader',
    where: live,
  },
  {
    name: 'conversation',
    rows: 'conversations',
    columns: {
      ...plain('text', 'id user_id name persona_id summary'),
      ...plain('int8', 'created_at updated_at ended_at'),
      kept: { type: 'bool' },
      messages: {
        type: 'int4',
        expression: '(SELECT ifnull(max(number), 0) FROM conversation_message WHERE conversation_id = conversation.id)',
      },
    },
    order: 'id',
    where: live,
  },
  {
    name: 'conversation_message',
    rows: 'messages',
    columns: {
      ...plain('text', 'conversation_id message answer'),
      ...plain('int4', 'number'),
      ...plain('int8', 'timestamp cost'),
      role: { type: 'text', derived: (row) => columnsOf(row).role },
      terms: { type: 'text', derived: (row) => columnsOf(row).terms },
      // Only those of the index have an order there.
      saved: { type: 'int8', derived: ({ text_id }) => text_id ?? 0, compared: false },
      indexed: { type: 'tsvector', derived: (row) => columnsOf(row).indexed, compared: false },
    },
    reads: {
      text_id: 'text_id',
      reader: `(SELECT min(reader) FROM conversation_reader JOIN conversation USING (user_id)
        WHERE conversation.id = conversation_id)`,
    },
    sqliteOnly: { text_id: ({ terms, saved }): Value => (terms === null ? null : saved!) },
    order: 'conversation_id, number',
    where: `conversation_id IN (SELECT id FROM conversation WHERE ${live})`,
  },
  {
    name: 'response_thread',
    rows: 'threads of responses',
    columns: {
      ...plain('int8', 'thread_id used_at bytes'),
      ...plain('text', 'user_id'),
      ...plain('int4', 'responses'),
    },
    order: 'thread_id',
    where: live,
  },
  {
    name: 'response',
    rows: 'responses',
    columns: {
      ...plain('int8', 'number thread_id created_at bytes'),
      ...plain('text', 'id key_id previous process document'),
      ...plain('int4', 'items'),
    },
    order: 'number',
    where: `thread_id IN (${liveThreads})`,
  },
  {
    name: 'response_item',
    rows: 'items of responses',
    columns: {
      ...plain('int8', 'number'),
      ...plain('int4', 'position'),
      ...plain('text', 'item'),
      id_digest: { type: 'bytea', derived: ({ id }) => (id === null ? null : idDigestOf(id as string)) },
    },
    reads: { id: 'id' },
    sqliteOnly: { id: ({ item }) => (JSON.parse(item as string) as { id?: string }).id ?? null },
    order: 'number, position',
    where: ofLiveResponse,
  },
  {
    name: 'response_events',
    rows: 'streams of responses',
    columns: { ...plain('int8', 'number'), ...plain('bytea', 'events') },
    order: 'number',
    where: ofLiveResponse,
  },
]
