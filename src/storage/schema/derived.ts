import { createHash } from 'node:crypto'
import type { Message } from '../../chat/chat.ts'
import type { Passthrough } from '../../personas/personas.ts'
import { termsOf } from '../stores/conversation-text.ts'

/** The columns of a message that is searched; of another one they are NULL. */
export interface IndexedText {
  /** A text for `array_to_tsvector`: the different terms, each behind the mark of its reader. */
  readonly lexemes: readonly string[] | null
  /** All terms in their order, with a space before, between and behind them. */
  readonly terms: string | null
}

/** Bytes of the longest term that is indexed as it is; a lexeme has at most 2,046 bytes. */
const longestTerm = 2000

/** The columns by which a message is found. */
export function indexedText(reader: number, message: Message): IndexedText {
  const terms = termsOf(message).map(boundedTerm)
  if (terms.length === 0) return { lexemes: null, terms: null }
  const mark = markOfReader(reader)
  return { lexemes: [...new Set(terms)].map((term) => mark + term), terms: ` ${terms.join(' ')} ` }
}

/** The mark before each term of a reader. */
export function markOfReader(reader: number): string {
  return `r${reader}·`
}

/** A term as it is indexed: a long one by its SHA-256. */
export function boundedTerm(term: string): string {
  return Buffer.byteLength(term) > longestTerm ? createHash('sha256').update(term).digest('hex') : term
}

/** The form in which the index of PostgreSQL keeps the id of a response's item. */
export function idDigestOf(id: string): Buffer {
  return createHash('sha256').update(id).digest()
}

/** The first greeting of a persona's character card as JSON, next to the fields that it is in; null for none. */
export function greetingOf(passthrough: Passthrough): string | null {
  const card = passthrough.card as { readonly data?: { readonly first_mes?: unknown } | null } | undefined
  const greeting = card?.data?.first_mes
  return greeting == null ? null : JSON.stringify(greeting)
}
