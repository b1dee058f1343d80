import { type Message, textOf } from '../../chat/protocol/messages.ts'
import type { ConversationSearch } from '../../personas/chat/conversation.ts'
import { searchTermsOf } from '../../personas/chat/search-words.ts'
import type { Database } from './connection.ts'
import { preparedOnce } from './prepared.ts'

/**
 * The full-text index of conversations: the terms of each message, and a mark of its reader in a column of its own, so that a
 * search walks the messages of its own user alone. A message leaves it with its row, by a trigger.
 */
export function createConversationText(db: Database) {
  return {
    /**
     * Indexes a message and returns its number in the index, the next one unless given; null for one without words. Expects a
     * transaction.
     */
    add(owner: string, message: Message, number?: number): number | null {
      if (message.role !== 'user' && message.role !== 'assistant') return null
      const terms = searchTermsOf(textOf(message.content))
      if (terms.length === 0) return null
      const { lastInsertRowid } = preparedOnce(db)(
        'INSERT INTO conversation_text (rowid, reader, terms) VALUES (?, ?, ?)',
      ).run(number ?? null, markOf(readerOf(db, owner)), terms.join(' '))
      return Number(lastInsertRowid)
    },
    /** The search in the language of FTS5; undefined where it can find nothing. */
    queryOf(owner: string, { groups }: Pick<ConversationSearch, 'groups'>): string | undefined {
      const readers = readersOf(db, owner)
      if (groups.length === 0 || readers.length === 0) return undefined
      const words = groups.map(({ terms, isPrefix }) => `"${terms.join(' ')}"${isPrefix ? ' *' : ''}`)
      const marks = readers.map((reader) => `"${markOf(reader)}"`)
      return `reader : (${marks.join(' OR ')}) AND terms : (${words.join(' AND ')})`
    },
  }
}

/** Indexes the messages of all conversations, for a migration. */
export function indexAll(db: Database): void {
  const text = createConversationText(db)
  const rows = db
    .prepare<[], { id: string; number: number; user_id: string; message: string }>(
      `SELECT conversation_id AS id, number, user_id, message FROM conversation_message
         JOIN conversation ON conversation.id = conversation_id
        WHERE user_id NOT LIKE '~%' ORDER BY conversation_message.timestamp, conversation_id, number`,
    )
    .all()
  const set = db.prepare('UPDATE conversation_message SET text_id = ? WHERE conversation_id = ? AND number = ?')
  for (const { id, number, user_id, message } of rows) set.run(text.add(user_id, JSON.parse(message)), id, number)
}

/** One word for the tokenizer. */
function markOf(reader: number): string {
  return `r${reader}`
}

/** The numbers of a user: more than one after that user was given the conversations of another. */
function readersOf(db: Database, owner: string): readonly number[] {
  return preparedOnce(db)<[string], number>('SELECT reader FROM conversation_reader WHERE user_id = ? ORDER BY reader')
    .pluck()
    .all(owner)
}

function readerOf(db: Database, owner: string): number {
  const [known] = readersOf(db, owner)
  if (known !== undefined) return known
  return Number(db.prepare('INSERT INTO conversation_reader (user_id) VALUES (?)').run(owner).lastInsertRowid)
}
