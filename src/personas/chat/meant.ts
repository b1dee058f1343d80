import { languageOf, wordsIn } from '../memory/language-words.ts'
import { isLore } from '../memory/lore.ts'
import type { Memories, SearchHit } from '../memory/memories.ts'
import { isOnlyQuestions } from '../memory/questions.ts'
import { plain, termsOf, wordsOf } from '../memory/ranking-terms.ts'
import type { Persona } from '../persona.ts'
import type { ProfileLine } from '../profile-line.ts'
import { forgetRequest } from './forgetting.ts'

/** What a wish to forget means. */
export interface Meant {
  /** Best first. */
  readonly memories: readonly SearchHit[]
  readonly lines: readonly ProfileLine[]
}

/** The most memories that one wish means. */
const mostMeant = 8

/** A memory that is meant matches at least so well, as a share of the best one. */
const leastShare = 0.5

/**
 * The memories and lines of a profile that "forget my birthday", or "my birthday" alone, may mean: those that match at least half
 * as well as the best one, the lines that come from them, and those that hold all its telling words.
 */
export async function meantBy(
  memories: Pick<Memories, 'search'>,
  persona: Persona,
  lines: readonly ProfileLine[],
  wish: string,
  signal?: AbortSignal,
): Promise<Meant> {
  const target = forgetRequest(wish) ?? wish
  const { hits } = await memories.search(persona, { query: target, limit: 3 * mostMeant, withEnded: true, signal })
  const relevant = hits.filter(
    ({ relevant, entry }) => relevant && !isLore(entry.metadata) && !isOnlyQuestions(entry.content),
  )
  const best = relevant[0]?.score ?? 0
  const meant = ownFirst(
    target,
    relevant.filter(({ score }) => score >= best * leastShare),
  ).slice(0, mostMeant)
  const ids = new Set<string | undefined>(meant.map(({ entry }) => entry.id))
  const { functions } = wordsIn(languageOf(target, wordsOf(target).map(plain)))
  const telling = termsOf(target).filter((term) => !functions.has(term))
  const holdsAll = (text: string) => {
    const terms = new Set(termsOf(text))
    return telling.length > 0 && telling.every((term) => terms.has(term))
  }
  return { memories: meant, lines: lines.filter(({ memory_id, text }) => ids.has(memory_id) || holdsAll(text)) }
}

/** "My birthday" means those that speak of the author, where there are any: "Rahel's birthday" is another one. */
function ownFirst(target: string, found: readonly SearchHit[]): readonly SearchHit[] {
  const ownWords = (text: string) => {
    const words = wordsOf(text).map(plain)
    const { self } = wordsIn(languageOf(text, words))
    return words.map((word) => self.has(word))
  }
  const isOwn = (text: string) => ownWords(text).includes(true)
  const own = ownWords(target)[0] ? found.filter(({ entry }) => isOwn(entry.content)) : []
  return own.length > 0 ? own : found
}
