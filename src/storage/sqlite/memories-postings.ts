import type { SearchQuery, SpellingLookup } from '../../personas/memory/memory.ts'
import { rangeOf, type ScopeRow } from '../shared/memory-scope.ts'
import { bestOf, frequencyOf, mostPostings, type Postings } from '../shared/memory-scoring.ts'
import type { Database } from './connection.ts'
import type { Passing } from './memories-filter.ts'
import { indexedTerm, numberWithin } from './memories-scope.ts'

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
      const around = read(
        scope,
        terms.map((term) => matchOf(scope, 'about context', term)),
        passing,
      )
      const spelled = read(scope, alike?.map((lookups) => matchOfAny(scope, lookups)) ?? [], passing)
      const best = bestOf({ own, around, spelled }, frequencies, scope.memories, limit)
      return { frequencies, best: best.map((number) => low + number) }
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

function matchOf({ scope_id }: ScopeRow, columns: 'content' | 'about context', term: string): string {
  return `{${columns}} : "${indexedTerm(scope_id, term)}"`
}

/** Matches any of the words in a memory's own text; without lookups nothing, as no term is empty. */
function matchOfAny({ scope_id }: ScopeRow, lookups: readonly SpellingLookup[]): string {
  if (lookups.length === 0) return `"${indexedTerm(scope_id, '')}"`
  const words = lookups.map(({ text, isPrefix }) => `"${indexedTerm(scope_id, text)}"${isPrefix ? ' *' : ''}`)
  return `{content} : (${words.join(' OR ')})`
}
