import { readWords } from '../words/read-words.ts'
import { plain } from './ranking-terms.ts'

/** Words about the people and animals of a life, in 15 languages. */
const lists = readWords<{
  /** By whom they mean, as memories use them; a possessive ending is part of the word where a language has one. */
  readonly people: Readonly<Record<string, string>>
  /** Those of them who may be the subject of news in place of the user. */
  readonly family: string
  /** Words that mean a person only behind "my" or "our": elsewhere they are other words, or those of another language. */
  readonly ambiguous: string
  readonly possessives: readonly string[]
}>('people')

/** A word or text in lower case, without accents, apostrophes, and the Polish and Turkish letters that no accent makes. */
export function lettersOf(text: string): string {
  const lower = text.toLowerCase()
  return /^[a-z ]*$/.test(lower) ? lower : plain(lower).replaceAll('ł', 'l').replaceAll('ı', 'i')
}

const byWord = new Map<string, string>()
for (const [person, words] of Object.entries(lists.people))
  for (const word of words.split(' ')) byWord.set(lettersOf(word), person)

const unspacedWords = [...byWord.keys()].filter((word) => /[\p{Script=Han}\p{Script=Hiragana}]/u.test(word))
const unspacedPattern = new RegExp(unspacedWords.sort((a, b) => b.length - a.length).join('|'), 'gu')

const family: ReadonlySet<string> = new Set(lists.family.split(' '))
const ambiguous: ReadonlySet<string> = new Set(lists.ambiguous.split(' '))
const possessives: ReadonlySet<string> = new Set(lists.possessives.join(' ').split(' '))

/** The people whom words mean, by the places of the words. @param words in their order, as they are written */
export function peopleAmong(words: readonly string[]): ReadonlyMap<number, string> {
  const people = new Map<number, string>()
  words.forEach((word, at) => {
    const letters = lettersOf(word)
    const person = byWord.get(letters)
    if (person === undefined) return
    if (ambiguous.has(letters) && !possessives.has(lettersOf(words[at - 1] ?? ''))) return
    people.set(at, person)
  })
  return people
}

/** The people whom a text speaks of by such words. */
export function peopleIn(text: string): ReadonlySet<string> {
  const people = new Set(peopleAmong(text.match(/[\p{L}\p{M}]+/gu) ?? []).values())
  for (const [word] of text.matchAll(unspacedPattern)) people.add(byWord.get(word)!)
  return people
}

/** Those of them who may be the subject of news in place of the user: "my sister moved" says nothing of the user. */
export function relativesIn(text: string): ReadonlySet<string> {
  return new Set([...peopleIn(text)].filter((person) => family.has(person)))
}
