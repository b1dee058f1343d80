import { peopleAmong, peopleIn } from './kinship.ts'
import { wordsIn } from './language-words.ts'
import type { Candidate } from './memory.ts'
import type { Ranked } from './ranking.ts'
import type { MemoryQuery } from './ranking-query.ts'
import { plain, termsOf } from './ranking-terms.ts'

/** Names that one hop from a query brings, at most. */
const mostNames = 3

/** Words between a noun and its name: "my daughter is called Safiya". Those that name need no capital behind them. */
const naming = new Set(
  `called named name heisst heissen namens appelle sappelle nommee nomme llama llaman chiama chiamano chama chamase heet heten genaamd imie
   nazywa imieniu adi adinda ismi isimli зовут имени звать зовуть звати імя اسمه اسمها يدعى تدعى नाम`.split(/\s+/),
)
const joining = new Set(
  `is s my our the a an and dr mr mrs ms prof herr frau ist mein meine unser unsere est mon ma notre es mi nuestra nuestro e il la mia mio o a meu minha se si is mijn onze de het
   na to jest moja moj ma это моя мой мою это це моя мій هو هي का की के है की मेरी मेरा`.split(/\s+/),
)

/**
 * The names and nouns that memories link to what a query speaks of: "my daughter" → "Safiya", "the client of the bridge project" →
 * "Norvane", and back from a name to "my daughter". None where no memory links any.
 */
export function linkedTerms(query: MemoryQuery, candidates: readonly Candidate[]): readonly string[] {
  const people = query.isPersonal || hasPossessiveEnding(query.text) ? peopleIn(query.text) : new Set<string>()
  const nouns = new Set(query.terms.filter(({ isWord, worth }) => isWord && worth === 1).map(({ term }) => term))
  const names = new Set(query.terms.filter(({ isName }) => isName).map(({ term }) => term))
  if (query.isGeneral || people.size + nouns.size === 0) return []
  const asked = new Set(query.terms.map(({ term }) => term))
  const found = new Set<string>()
  for (const { entry, terms } of candidates) {
    if (found.size >= mostNames) break
    // Most candidates hold none of the nouns and names: their words need not be read.
    if (entry.content.length > longestLink || (people.size === 0 && !holdsAny(terms, nouns, names))) continue
    for (const term of linksIn(entry.content, { people, nouns, names }, query.language))
      if (!asked.has(term)) found.add(term)
  }
  return [...found].slice(0, mostNames)
}

function holdsAny(terms: string, ...lists: readonly ReadonlySet<string>[]): boolean {
  return terms.split(' ').some((term) => lists.some((list) => list.has(term)))
}

/** Characters of a memory that introduces somebody. */
const longestLink = 300

/** Languages whose words for relatives hold "my". */
function hasPossessiveEnding(text: string): boolean {
  return /\p{Script=Arabic}|\p{Script=Devanagari}|[娘息妻夫母父]|[ıi]m(?:[ıiae]|[ıi]n)?(?!\p{L})/u.test(text)
}

interface Sought {
  readonly people: ReadonlySet<string>
  readonly nouns: ReadonlySet<string>
  readonly names: ReadonlySet<string>
}

/** Words that introduce in a memory: those next to whom or what is sought. */
function linksIn(content: string, { people, nouns, names }: Sought, language: string): readonly string[] {
  const unspaced = unspacedName.exec(content)?.groups?.['name']
  if (unspaced !== undefined) return [...peopleIn(content)].some((person) => people.has(person)) ? [unspaced] : []
  const words = content.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  const persons = peopleAmong(words)
  const found: string[] = []
  for (const [at, word] of words.entries()) {
    const person = persons.get(at)
    const term = termOf(word)
    if (person !== undefined && people.has(person)) found.push(...namesAround(words, at, true))
    else if (person === undefined && nouns.has(term) && !names.has(term))
      found.push(...namesAround(words, at, false, language))
    // From a name in the query back to the relative that it is.
    if (names.has(term) && people.size === 0)
      for (const other of persons.keys()) if (Math.abs(other - at) <= 4) found.push(words[other]!)
  }
  return found.flatMap((name) => termsOf(name).slice(0, 1))
}

/** The first terms of the latest words: memories use the same ones again and again. */
const latest = new Map<string, string>()
const mostLatest = 10_000

function termOf(word: string): string {
  const known = latest.get(word)
  if (known !== undefined) return known
  const [term = ''] = termsOf(word)
  if (latest.size === mostLatest) latest.clear()
  latest.set(word, term)
  return term
}

/** "女儿叫小雨", "娘の名前はさくらです". */
const unspacedName =
  /(?:叫|名字是|名前は|名は)(?<name>[\p{Script=Han}\p{Script=Katakana}\p{Script=Hiragana}]{1,6}?)(?=です|だ|。|，|、|,|$)/u

/** The most linked memories that are found by their link alone. */
const mostLinked = 4
/** The score of such a memory: what is said of the one who is meant, not that it answers. */
const linkedScore = 0.3

/** Gives the linked memories, in their order, a score of their own, and puts them among the others. */
export function liftLinked(ranked: readonly Ranked[], linked: readonly Candidate[]): readonly Ranked[] {
  const ids = new Set(linked.map(({ entry }) => entry.id))
  const known = new Set(ranked.map(({ candidate }) => candidate.entry.id))
  const rest = linked
    .filter(({ entry }) => !known.has(entry.id))
    .map((candidate): Ranked => ({ candidate, score: 0, parts: noParts }))
  let left = mostLinked
  return [...ranked, ...rest]
    .map((each) => (ids.has(each.candidate.entry.id) && left-- > 0 ? lifted(each) : each))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
}

function lifted(each: Ranked): Ranked {
  const score = Math.max(each.score, linkedScore)
  return { ...each, score, parts: { ...each.parts, evidence: Math.max(each.parts.evidence, score) } }
}

const noParts = { lexical: 0, vector: 0, recency: 1, importance: 1, coverage: 0, evidence: 0 } as const

/** The name that stands behind a noun, and for a person also before it: "my son Ilyas", "Ilyas is my son". */
function namesAround(words: readonly string[], at: number, isPerson: boolean, language = ''): readonly string[] {
  const found: string[] = []
  let isNamed = false
  for (let place = at + 1; place < Math.min(words.length, at + 5); place++) {
    const word = words[place]!
    const letters = plain(word.toLowerCase())
    isNamed ||= naming.has(letters)
    if (naming.has(letters) || joining.has(letters)) continue
    const hasCase = word.toLowerCase() !== word.toUpperCase()
    const isAdjacent = place === at + 1
    const isEnough = isPerson || isNamed || (language !== 'de' && !isAdjacent)
    if (hasCase ? /^\p{Lu}/u.test(word) && isEnough : isNamed) found.push(word)
    break
  }
  if (!isPerson) return found
  for (let place = at - 1; place >= Math.max(0, at - 3); place--) {
    const word = words[place]!
    if (joining.has(plain(word.toLowerCase()))) continue
    if (/^\p{Lu}\p{Ll}/u.test(word) && !wordsIn('en').functions.has(word.toLowerCase())) found.push(word)
    break
  }
  return found
}
