import { readWords } from '../words/read-words.ts'
import { isTold } from './kinds.ts'
import { relativesIn } from './kinship.ts'
import { languageOf } from './language-words.ts'
import { type MemoryEntry, type MemoryStore, type Scope, speakerOf } from './memory.ts'
import { isOnlyQuestions } from './questions.ts'
import type { Ranked } from './ranking.ts'
import type { MemoryQuery } from './ranking-query.ts'
import { plain, wordsOf } from './ranking-terms.ts'

/** Alternatives of a regular expression over words in lower case, by language. */
type Wordings = Readonly<Record<string, string>>

const { topics, news } = readWords<{
  /** Words of the parts of a life that change: work, home, partner, … */
  readonly topics: Readonly<Record<string, Wordings>>
  /** Words by which people tell that something is new, over, or done. */
  readonly news: Wordings
}>('topics')

/** Statements, newest first, that are looked at for what has changed since one was said. */
const mostLookedAt = 150

/** The most of them that stand before the statement. */
const mostLater = 2

/** Characters of a statement that may be of one topic; longer ones are of several. */
const longestStatement = 400

/**
 * Ranked memories with what the user said later on the topic of the best one before it: "Dumped by text" before "I am seeing
 * Marcus", with which it shares no word. It closes nothing, since a topic and a word of change are no proof; the model sees both
 * with their times. Only for a question that a statement of the user answers best.
 * @param floor the least score of a memory that the model sees
 */
export async function withLaterNews(
  store: Pick<MemoryStore, 'list'>,
  scope: Scope,
  { text: question, isParticular }: Pick<MemoryQuery, 'text' | 'isParticular'>,
  ranked: readonly Ranked[],
  floor: number,
): Promise<readonly Ranked[]> {
  const [best] = ranked
  if (!best || !isParticular || best.score < floor || !isOnlyQuestions(question) || !isOfOneTopic(best.candidate.entry))
    return ranked
  const { entry } = best.candidate
  const own = topicsIn(entry.content)
  const asked = topicsIn(question)
  const both = own.filter((topic) => asked.includes(topic))
  const wanted = new Set(both.length > 0 ? both : own)
  if (wanted.size === 0) return ranked
  const { entries } = await store.list(scope, { after: entry.timestamp + 1, limit: mostLookedAt, offset: 0 })
  const people = relativesIn(`${entry.content} ${question}`)
  const known = new Set(ranked.filter(({ score }) => score >= floor).map(({ candidate }) => candidate.entry.id))
  const later = entries
    .filter(
      (each) => !known.has(each.id) && isOfOneTopic(each) && speakerOf(each.metadata) === speakerOf(entry.metadata),
    )
    .filter(({ content }) => isNews(content) && [...relativesIn(content)].every((person) => people.has(person)))
    .map((each) => ({ entry: each, weight: weightOf(each.content, wanted) }))
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight || other.entry.timestamp - one.entry.timestamp)
    .slice(0, mostLater)
  if (later.length === 0) return ranked
  const ids = new Set(later.map(({ entry: { id } }) => id))
  return [
    ...later.map(({ entry: each }) => ({
      candidate: { entry: each, terms: '', about: '', context: '' },
      score: best.score,
      parts: best.parts,
    })),
    ...ranked.filter(({ candidate }) => !ids.has(candidate.entry.id)),
  ]
}

function isOfOneTopic(entry: MemoryEntry): boolean {
  return entry.content.length <= longestStatement && isTold(entry)
}

function isNews(text: string): boolean {
  return searchIn(news, text).length > 0
}

function topicsIn(text: string): readonly string[] {
  return Object.keys(topics).filter((topic) => searchIn(topics[topic]!, text).length > 0)
}

/** How many different words of the topics a text has. */
function weightOf(text: string, wanted: ReadonlySet<string>): number {
  return new Set([...wanted].flatMap((topic) => searchIn(topics[topic]!, text))).size
}

/** By their sources. */
const patterns = new Map<string, RegExp>()

function searchIn(wordings: Wordings, text: string): readonly string[] {
  const letters = text.toLowerCase().replace(/[’‘ʼ`]/g, "'")
  const source = wordings[languageOf(text, wordsOf(text).map(plain))]
  if (source === undefined) return []
  const known = patterns.get(source) ?? new RegExp(`(?<![\\p{L}\\p{M}\\d])(?:${source})(?![\\p{L}\\p{M}\\d])`, 'gu')
  patterns.set(source, known)
  return [...letters.matchAll(known)].map(([word]) => word)
}
