import { inverseFrequency } from '../../personas/personas.ts'
import type { ScopeRow } from './memory-scope.ts'

/** The index's answer to a query, before ranking. */
export interface Postings {
  /** For each asked term: in how many memories' own text it stands. */
  readonly frequencies: readonly number[]
  /** The numbers of the memories that match best. */
  readonly best: readonly number[]
}

/**
 * The most memories that one term may bring, the newest first. A term in more of them tells little, and its share in a
 * memory that another term brings is seen in ranking: this bounds the cost of a search in a large scope.
 */
export const mostPostings = 2000

/** For each asked term the numbers, within their scope, of the memories that it brings; each list is the newest `mostPostings`. */
export interface PostingLists {
  /** In a memory's own text; of those that pass the query's filter. */
  readonly own: readonly (readonly number[])[]
  /** In its neighbours' text, its speaker or its date. */
  readonly around: readonly (readonly number[])[]
  /** By words spelled like the term. */
  readonly spelled: readonly (readonly number[])[]
}

/** The numbers within their scope of the memories with terms, and neighbours' terms, that are worth most together, the best first. */
export function bestOf(
  { own, around, spelled }: PostingLists,
  frequencies: readonly number[],
  memories: number,
  limit: number,
): number[] {
  const worth = frequencies.map((frequency) => inverseFrequency(memories, frequency))
  const scores = new Map<number, number>()
  const credit = (found: readonly (readonly number[])[], share: number) => {
    found.forEach((numbers, at) => {
      const gained = share * worth[at]!
      for (const number of numbers) scores.set(number, (scores.get(number) ?? 0) + gained)
    })
  }
  credit(own, 1)
  credit(around, aroundShare)
  credit(spelled, alikeShare)
  return highest(scores, limit)
}

/** The share of a term's worth that a memory's neighbours, speaker or date bring. */
const aroundShare = 0.4

/** The share of a term's worth that a word spelled alike brings. */
const alikeShare = 0.5

/** In how many memories of the scope a term stands; where the list was cut off, as many as its part of the scope suggests. */
export function frequencyOf(numbers: readonly number[], scope: ScopeRow): number {
  if (scope.memories <= mostPostings || numbers.length < mostPostings) return numbers.length
  const covered = (numbers[0]! - numbers.at(-1)! + 1) / scope.last_number
  return Math.min(scope.memories, Math.round(numbers.length / covered))
}

/** The keys with the highest values; of equal ones the greater keys, which are the newer memories. */
function highest(scores: ReadonlyMap<number, number>, limit: number): number[] {
  const inOrder = (keys: number[]) => keys.sort((a, b) => scores.get(b)! - scores.get(a)!)
  if (scores.size <= limit) return inOrder([...scores.keys()])
  // Finding the value at the limit by a sort of plain numbers spares a sort of pairs; `forEach` makes no pair at all.
  const sorted = new Float64Array(scores.size)
  let filled = 0
  scores.forEach((score) => {
    sorted[filled++] = score
  })
  const least = sorted.sort()[scores.size - limit]!
  const above: number[] = []
  const equal: number[] = []
  scores.forEach((score, number) => {
    if (score > least) above.push(number)
    else if (score === least) equal.push(number)
  })
  return [...inOrder(above), ...equal.sort((a, b) => b - a).slice(0, limit - above.length)]
}
