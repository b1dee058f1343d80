import type { Message } from '../../chat/chat.ts'
import { run, sql, type Work } from '../port/port.ts'
import { type ConversationText, readerOf, termsOf } from '../stores/conversation-text.ts'
import type { Database } from './connection.ts'
import { runOn } from './driver.ts'

/**
 * The full-text index of conversations: the terms of each message, and a mark of its reader in a column of its own, so that a
 * search walks the messages of its own user alone. A message leaves it with its row, by a trigger.
 */
export const conversationText: ConversationText = {
  *write(reader, { id, number, message: { message, timestamp, cost, answer } }) {
    const isIndexed = yield* index(reader, message)
    yield* run(
      sql`INSERT INTO conversation_message (conversation_id, number, message, timestamp, cost, answer, text_id)
          VALUES (${id}, ${number}, ${JSON.stringify(message)}, ${timestamp}, ${cost},
            ${answer && JSON.stringify(answer)}, CASE WHEN ${isIndexed} THEN last_insert_rowid() END)`,
    )
  },
  matching(readers, groups) {
    const words = groups.map(({ terms, isPrefix }) => `"${terms.join(' ')}"${isPrefix ? ' *' : ''}`)
    const marks = readers.map((reader) => `"${markOf(reader)}"`)
    // In the language of FTS5.
    return sql`conversation_text MATCH ${`reader : (${marks.join(' OR ')}) AND terms : (${words.join(' AND ')})`}`
  },
}

/** Indexes a message that was written already, under its number in the index. Expects a transaction. */
export function indexMessage(db: Database, owner: string, message: string, number: number): void {
  runOn(db, index(runOn(db, readerOf(owner)), JSON.parse(message), number))
}

/** Indexes the messages of all conversations, for a migration. */
export function indexAll(db: Database): void {
  const rows = db
    .prepare<[], { id: string; number: number; user_id: string; message: string }>(
      `SELECT conversation_id AS id, number, user_id, message FROM conversation_message
         JOIN conversation ON conversation.id = conversation_id
        WHERE user_id NOT LIKE '~%' ORDER BY conversation_message.timestamp, conversation_id, number`,
    )
    .all()
  const set = db.prepare(
    'UPDATE conversation_message SET text_id = last_insert_rowid() WHERE conversation_id = ? AND number = ?',
  )
  for (const { id, number, user_id, message } of rows)
    if (runOn(db, index(runOn(db, readerOf(user_id)), JSON.parse(message)))) set.run(id, number)
}

/** Adds the terms of a message under the next number, unless one is given; false for one without words. */
function* index(reader: number, message: Message, number?: number): Work<boolean> {
  const terms = termsOf(message)
  if (terms.length === 0) return false
  yield* run(
    sql`INSERT INTO conversation_text (rowid, reader, terms) VALUES (${number}, ${markOf(reader)}, ${terms.join(' ')})`,
  )
  return true
}

/** One word for the tokenizer. */
function markOf(reader: number): string {
  return `r${reader}`
}
