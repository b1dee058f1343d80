import { createHash } from 'node:crypto'
import { type Message, textOf } from '../../chat/protocol/messages.ts'
import { type SearchGroup, searchTermsOf } from '../../personas/chat/search-words.ts'
import type { Sql, Transaction } from './sql.ts'

/** The columns of a message that is searched; of another one they are NULL. */
export interface IndexedText {
  /** A text for `array_to_tsvector`: the different terms, each behind the mark of its reader. */
  readonly lexemes: readonly string[] | null
  /** All terms in their order, with a space before, between and behind them. */
  readonly terms: string | null
}

/** Bytes of the longest term that is indexed as it is; a lexeme has at most 2,046 bytes. */
const longestTerm = 2000

export function indexedText(reader: number, message: Message): IndexedText {
  const terms =
    message.role === 'user' || message.role === 'assistant' ? searchTermsOf(textOf(message.content)).map(bounded) : []
  if (terms.length === 0) return { lexemes: null, terms: null }
  const mark = markOf(reader)
  return { lexemes: [...new Set(terms)].map((term) => mark + term), terms: ` ${terms.join(' ')} ` }
}

/** The condition of a search over `indexed` and `terms`, with its parameters from number `first` on. */
export function searchCondition(
  readers: readonly number[],
  groups: readonly SearchGroup[],
  first: number,
): { readonly condition: string; readonly values: readonly string[] } {
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
  const phrases = groups
    .filter(({ terms }) => terms.length > 1)
    .map(({ terms, isPrefix }) => ` ${terms.map(bounded).join(' ')}${isPrefix ? '' : ' '}`)
  return {
    condition: [
      `indexed @@ $${first}::tsquery`,
      ...phrases.map((_, at) => `strpos(terms, $${first + at + 1}) > 0`),
    ].join(' AND '),
    values: [queries.map((query) => `(${query})`).join(' | '), ...phrases],
  }
}

/** The numbers of a user: more than one after that user was given the conversations of another. */
export async function readersOf(sql: Sql, owner: string): Promise<readonly number[]> {
  const rows = await sql.rows<{ reader: number }>(
    'SELECT reader FROM conversation_reader WHERE user_id = $1 ORDER BY reader',
    [owner],
  )
  return rows.map(({ reader }) => reader)
}

/** The number under which a user's messages are indexed; two transactions may give a user one each. */
export async function readerOf(tx: Transaction, owner: string): Promise<number> {
  const [known] = await readersOf(tx, owner)
  if (known !== undefined) return known
  const made = await tx.row<{ reader: number }>(
    'INSERT INTO conversation_reader (user_id) VALUES ($1) RETURNING reader',
    [owner],
  )
  return made!.reader
}

function markOf(reader: number): string {
  return `r${reader}·`
}

function bounded(term: string): string {
  return Buffer.byteLength(term) > longestTerm ? createHash('sha256').update(term).digest('hex') : term
}
