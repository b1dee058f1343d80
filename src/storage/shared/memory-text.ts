import { aboutTerms, isQuestion, type Neighbour, termsOf, writeContext } from '../../personas/personas.ts'

/** The columns of a memory that its terms are made of. */
export interface TextRow {
  memory_id: number
  content: string
  timestamp: number
  metadata: string
  conversation: string
}

/** A memory before (negative distance) or after another. */
export interface Near {
  readonly row: TextRow
  readonly distance: number
}

export type Known = Map<number, { readonly terms: string; readonly question: boolean }>

/** A memory's terms, made once per write however many neighbours it has. */
export function analysed(row: TextRow, known: Known) {
  const seen = known.get(row.memory_id) ?? { terms: termsOf(row.content).join(' '), question: isQuestion(row.content) }
  known.set(row.memory_id, seen)
  return seen
}

/**
 * Characters of a memory that has context of its own: a longer one says enough. A row of the index is written whole, so
 * that six of the greatest length would otherwise be written again whenever one is put between them.
 */
const longestWithContext = 4_000

/** The context of a memory: the terms of those around it. */
export function contextOf(row: TextRow, around: readonly Near[], known: Known): string {
  return row.content.length > longestWithContext ? '' : writeContext(around.map((near) => neighbour(near, known)))
}

/**
 * Characters of a neighbour's terms that count as context: a message of a conversation is shorter, and a word between six memories of the
 * greatest length would take all of theirs into the index.
 */
const longestNeighbour = 1_000

function neighbour({ row, distance }: Near, known: Known): Neighbour {
  const { terms, question } = analysed(row, known)
  if (terms.length <= longestNeighbour) return { distance, question, terms }
  return { distance, question, terms: terms.slice(0, terms.lastIndexOf(' ', longestNeighbour) + 1).trimEnd() }
}

/** The terms of a memory's speaker and date. */
export function aboutOf(row: TextRow): string {
  return aboutTerms({ timestamp: row.timestamp, metadata: JSON.parse(row.metadata) })
}
