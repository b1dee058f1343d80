import { sql } from '../port/port.ts'
import { boundedTerm, indexedText, markOfReader } from '../schema/derived.ts'
import type { ConversationText } from '../stores/conversation-text.ts'
import { onPostgres } from './driver.ts'

/** Terms stand behind the mark of their reader, so that a search reads the postings of its own users alone. */
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
            const lexeme = `'${markOfReader(reader)}${boundedTerm(term)}'`
            return isPrefix && at === terms.length - 1 ? `${lexeme}:*` : lexeme
          }),
        )
        .join(' & '),
    )
    // Terms are letters, marks and digits alone, so that none needs to be quoted further.
    const query = queries.map((each) => `(${each})`).join(' | ')
    const phrases = groups
      .filter(({ terms }) => terms.length > 1)
      .map(({ terms, isPrefix }) => ` ${terms.map(boundedTerm).join(' ')}${isPrefix ? '' : ' '}`)
    return phrases.reduce(
      (all, phrase) => sql`${all} AND strpos(terms, ${phrase}) > 0`,
      sql`indexed @@ CAST(${query} AS tsquery)`,
    )
  },
}
