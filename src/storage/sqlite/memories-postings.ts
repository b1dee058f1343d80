import type { SearchQuery, SpellingLookup } from '../../personas/memory/memory.ts'
import { inverseFrequency } from '../../personas/memory/ranking-lexical.ts'
import type { Database } from './connection.ts'
import type { Passing } from './memories-filter.ts'
import { indexedTerm, numberWithin, rangeOf, type ScopeRow } from './memories-scope.ts'

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
const mostPostings = 2000

/** Looks terms up in the full-text index. Expects to run inside the caller's transaction. */
export function createPostings(db: Database) {
  // All lists of a query in one statement, each as one text: a row per posting would cost more than finding it.
  const prepareLists = (end: string, condition = '') =>
    db
      .prepare<[object], string>(
        `SELECT (SELECT json_group_array(number) FROM (
             SELECT ${numberWithin('rowid')} AS number FROM memory_text
              WHERE memory_text MATCH asked.value AND rowid BETWEEN @low AND @high ${condition} ${end}))
           FROM json_each(@asked) AS asked ORDER BY asked.key`,
      )
      .pluck()
  const wholeLists = prepareLists('')
  // Reading backwards costs half as much again, so it is left to scopes in which a list can be too long.
  const cut = `ORDER BY rowid DESC LIMIT ${mostPostings}`
  const newest = prepareLists(cut)

  return {
    /**
     * Counts the terms in the scope and gathers the memories with terms, and neighbours' terms, that are worth most
     * together. Terms hold letters, marks and digits only, so that within quotes none of them means anything to MATCH.
     */
    find(scope: ScopeRow, { terms, alike, candidates: limit }: SearchQuery, passing?: Passing): Postings {
      const { low } = rangeOf(scope.scope_id)
      const inText = terms.map((term) => matchOf(scope, 'content', term))
      const all = read(scope, inText)
      const frequencies = all.map((numbers) => frequencyOf(numbers, scope))
      if (passing?.all) return { frequencies, best: passing.all }
      const own = passing ? read(scope, inText, passing) : all
      const worth = frequencies.map((frequency) => inverseFrequency(scope.memories, frequency))
      const scores = new Map<number, number>()
      const credit = (found: readonly (readonly number[])[], share: number) => {
        found.forEach((numbers, at) => {
          const gained = share * worth[at]!
          for (const number of numbers) scores.set(number, (scores.get(number) ?? 0) + gained)
        })
      }
      credit(own, 1)
      const around = terms.map((term) => matchOf(scope, 'about context', term))
      credit(read(scope, around, passing), 0.4)
      const spelled = alike?.map((lookups) => matchOfAny(scope, lookups)) ?? []
      credit(read(scope, spelled, passing), alikeShare)
      return { frequencies, best: highest(scores, limit).map((number) => low + number) }
    },
  }

  /** For each expression the memories that match it, as their numbers within the scope. */
  function read(scope: ScopeRow, asked: readonly string[], passing?: Passing): number[][] {
    if (asked.length === 0) return []
    const { low, high } = rangeOf(scope.scope_id)
    const isLarge = scope.memories > mostPostings
    const filtered = passing && prepareLists(isLarge ? cut : '', `AND ${passing.condition('memory_text.rowid')}`)
    const lists = filtered ?? (isLarge ? newest : wholeLists)
    const found = lists.all({ ...passing?.values, low, high, asked: JSON.stringify(asked) })
    return found.map((list) => JSON.parse(list) as number[])
  }
}

/** The share of a term's worth that a word spelled alike brings. */
const alikeShare = 0.5

function matchOf({ scope_id }: ScopeRow, columns: 'content' | 'about context', term: string): string {
  return `{${columns}} : "${indexedTerm(scope_id, term)}"`
}

/** Matches any of the words in a memory's own text; without lookups nothing, as no term is empty. */
function matchOfAny({ scope_id }: ScopeRow, lookups: readonly SpellingLookup[]): string {
  if (lookups.length === 0) return `"${indexedTerm(scope_id, '')}"`
  const words = lookups.map(({ text, isPrefix }) => `"${indexedTerm(scope_id, text)}"${isPrefix ? ' *' : ''}`)
  return `{content} : (${words.join(' OR ')})`
}

/** In how many memories of the scope a term stands; where the list was cut off, as many as its part of the scope suggests. */
function frequencyOf(numbers: readonly number[], scope: ScopeRow): number {
  if (numbers.length < mostPostings) return numbers.length
  const covered = (numbers[0]! - numbers.at(-1)! + 1) / scope.last_number
  return Math.min(scope.memories, Math.round(numbers.length / covered))
}

/** The keys with the highest values; of equal ones the greater keys, which are the newer memories. */
function highest(scores: ReadonlyMap<number, number>, limit: number): number[] {
  if (scores.size <= limit) return [...scores.keys()]
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
  return [...above, ...equal.sort((a, b) => b - a).slice(0, limit - above.length)]
}
