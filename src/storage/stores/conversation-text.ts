import { type Message, textOf } from '../../chat/chat.ts'
import { type SavedMessage, type SearchGroup, searchTermsOf } from '../../personas/personas.ts'
import { row, rows, type Statement, sql, type Work } from '../port/port.ts'

/** A message with its place: the id of its conversation, and its number there from 1. */
export interface PlacedMessage {
  readonly id: string
  readonly number: number
  readonly message: SavedMessage
}

/** The full-text index of conversations, in which each database searches its own way. */
export interface ConversationText {
  /** Writes a message, and its terms behind the mark of a reader. */
  write(reader: number, message: PlacedMessage): Work<unknown>
  /** The condition on messages of these readers to hold each of the groups. */
  matching(readers: readonly number[], groups: readonly SearchGroup[]): Statement
}

/** The terms of a message that is searched; of another one there are none. */
export function termsOf({ role, content }: Message): readonly string[] {
  if (role !== 'user' && role !== 'assistant') return []
  // Texts of two parts do not make one word.
  return searchTermsOf(Array.isArray(content) ? content.map((part) => textOf([part])).join('\n') : textOf(content))
}

/** The numbers of a user: more than one after that user was given the conversations of another. */
export function* readersOf(owner: string): Work<readonly number[]> {
  const found = yield* rows<{ reader: number }>(
    sql`SELECT reader FROM conversation_reader WHERE user_id = ${owner} ORDER BY reader`,
  )
  return found.map(({ reader }) => reader)
}

/** The number under which a user's messages are indexed; two transactions may give a user one each. */
export function* readerOf(owner: string): Work<number> {
  const [known] = yield* readersOf(owner)
  if (known !== undefined) return known
  const made = yield* row<{ reader: number }>(
    sql`INSERT INTO conversation_reader (user_id) VALUES (${owner}) RETURNING reader`,
  )
  return made!.reader
}
