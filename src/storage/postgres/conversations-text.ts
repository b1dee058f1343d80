import { createHash } from 'node:crypto'
import type { Message } from '../../chat/protocol/messages.ts'
import { sql } from '../port/port.ts'
import { type ConversationText, termsOf } from '../stores/conversation-text.ts'
import { onPostgres } from './driver.ts'

/** The columns of a message that is searched; of another one they are NULL. */
export interface IndexedText {
  /** A text for `array_to_tsvector`: the different terms, each behind the mark of its reader. */
  readonly lexemes: readonly string[] | null
  /** All terms in their order, with a space before, between and behind them. */
  readonly terms: string | null
}

/** Bytes of the longest term that is indexed as it is; a lexeme has at most 2,046 bytes. */
const longestTerm = 2000

export const conversationText: ConversationText = {
  write(reader, { id, number, message: { message, timestamp, cost, answer } }) {
    const { lexemes, terms } = indexedText(reader, message)
    const values = [
      ...[id, number, message.role, JSON.stringify(message), timestamp, cost ?? null],
      ...[answer ? JSON.stringify(answer) : null, lexemes, terms],
    ]
    return onPostgres((tx) =>
      tx.run(
        `INSERT INTO conversation_message (conversation_id, number, role, message, timestamp, cost, answer, indexed, terms)
           VALUES ($1, $2, $3, $4, $5, $6, $7, array_to_tsvector($8::text[]), $9)`,
        values,
      ),
    )
  },
  matching(readers, groups) {
    const queries = readers.map((reader) =>
      groups
        .flatMap(({ terms, isPrefix }) =>
          terms.map((term, at) => {
            const lexeme = `'${markOf(reader)}${bounded(term)}'`
            return isPrefix && at === terms.length - 1 ? `${lexeme}:*` : lexeme
          }),
        )
        .join(' & '),
    )
    // Terms are letters, marks and digits alone, so that none needs to be quoted further.
    const query = queries.map((each) => `(${each})`).join(' | ')
    const phrases = groups
      .filter(({ terms }) => terms.length > 1)
      .map(({ terms, isPrefix }) => ` ${terms.map(bounded).join(' ')}${isPrefix ? '' : ' '}`)
    return phrases.reduce(
      (all, phrase) => sql`${all} AND strpos(terms, ${phrase}) > 0`,
      sql`indexed @@ CAST(${query} AS tsquery)`,
    )
  },
}

export function indexedText(reader: number, message: Message): IndexedText {
  const terms = termsOf(message).map(bounded)
  if (terms.length === 0) return { lexemes: null, terms: null }
  const mark = markOf(reader)
  return { lexemes: [...new Set(terms)].map((term) => mark + term), terms: ` ${terms.join(' ')} ` }
}

function markOf(reader: number): string {
  return `r${reader}·`
}

function bounded(term: string): string {
  return Buffer.byteLength(term) > longestTerm ? createHash('sha256').update(term).digest('hex') : term
}
