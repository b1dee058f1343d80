import type { SearchQuery, SpellingLookup } from './memory.ts'
import type { MemoryQuery, QueryTerm } from './ranking-query.ts'

/** Shorter words are too often alike by chance. */
const shortest = 4
/** The least share of the longer word that a common beginning must cover. */
const leastShare = 0.6
/** The least length of a part of a compound. */
const shortestTail = 5
const shortestHead = 6
/** Credit beside that of the same word. */
const credit = { beginning: 0.9, tail: 0.5, head: 0.5 } as const
/** Lookups of a term. */
const mostLookups = 10

/**
 * The credit of a word of a memory for a word of a query that is spelled alike, from 0 to 1: another inflection
 * (`fruits`, `fruit`), or a compound and its part (`Berghütte`, `Hütte`). 0 for unlike ones, 1 for the same.
 */
export function likeness(asked: string, word: string): number {
  if (asked === word) return 1
  const [shorter, longer] = asked.length < word.length ? [asked, word] : [word, asked]
  let same = 0
  while (same < shorter.length && shorter[same] === longer[same]) same++
  const share = same / longer.length
  if (same >= shortest && share >= leastShare) return credit.beginning * share ** 1.5
  if (same === shorter.length && same >= shortestHead) return credit.head
  if (shorter.length >= shortestTail && longer.endsWith(shorter)) return credit.tail
  return 0
}

/** Whether a term may match other words by their spelling. English words do not: their stems are unified already. */
export function hasLikeWords({ term, isWord }: QueryTerm, language: string): boolean {
  return isWord && language !== 'en' && term.length >= shortest && !/\d/.test(term)
}

/** The lookups of a query in a store. */
export function lookupsOf({ terms, language }: MemoryQuery): Pick<SearchQuery, 'terms' | 'alike'> {
  const asked = { terms: terms.map(({ term }) => term) }
  return language === 'en' ? asked : { ...asked, alike: terms.map((term) => spellingLookups(term, language)) }
}

/** The lookups for the words that are like a term: those with its beginning, and its own parts where it may be a compound. */
export function spellingLookups(asked: QueryTerm, language: string): readonly SpellingLookup[] {
  if (!hasLikeWords(asked, language)) return []
  const { term } = asked
  const beginning = { text: term.slice(0, Math.max(shortest, Math.ceil(term.length * leastShare))), isPrefix: true }
  const parts: SpellingLookup[] = []
  for (let length = term.length - 1; length >= shortestTail; length--)
    parts.push({ text: term.slice(-length), isPrefix: false })
  for (let length = shortestHead; length < beginning.text.length; length++)
    parts.push({ text: term.slice(0, length), isPrefix: false })
  return [beginning, ...parts.slice(0, mostLookups)]
}
