import { plain, unified, unspaced } from '../memory/ranking-terms.ts'

/** Terms that a message holds one after the other; the last one may be the beginning of a word. */
export interface SearchGroup {
  readonly terms: readonly string[]
  readonly isPrefix: boolean
}

/** A term of a text, and the characters it was made of. */
interface Term {
  readonly term: string
  readonly start: number
  readonly end: number
}

/** Characters of a message that are searched. */
const searchedLength = 100_000

/** Groups of a search; further words are left out. */
const mostGroups = 32

/**
 * The terms of a text, in order: words without case and diacritics. A run of a script that is written without spaces becomes
 * overlapping pairs of characters, and its last character. A term is letters, marks and digits alone, never empty, and never
 * query syntax of an engine. Every store indexes exactly these, so that all of them find the same.
 */
export function searchTermsOf(text: string): readonly string[] {
  return Array.from(termsIn(text.slice(0, searchedLength)), ({ term }) => term)
}

/**
 * Reads a search: words, each of which a message must hold; `"several words"` for words in a row, and `word*` for words that
 * begin so. Any text is a search; one without a letter or digit has no groups.
 */
export function readSearch(query: string): readonly SearchGroup[] {
  const groups: SearchGroup[] = []
  for (const [, quoted, star, bare] of query.matchAll(/"([^"]*)(?:"(\*)?|$)|([^\s"]+)/gu)) {
    const isPrefix = star !== undefined || (bare ?? '').endsWith('*')
    const found = [...termsIn(quoted ?? bare ?? '')]
    const terms = found.map(({ term }) => term)
    const last = terms.at(-1)
    if (last === undefined) continue
    if (!unspaced.test(last)) groups.push({ terms, isPrefix })
    // The last character of a run stands alone only at the end of a run, and a single one begins a pair elsewhere.
    else if (terms.length > 1 && unspaced.test(terms.at(-2)!) && found.at(-2)!.end > found.at(-1)!.start)
      groups.push({ terms: terms.slice(0, -1), isPrefix: false })
    else groups.push({ terms, isPrefix: true })
  }
  return groups.slice(0, mostGroups)
}

/** An excerpt around the matches, on one line, and their places in it. */
export interface Snippet {
  readonly text: string
  /** Beginning and end of each, in characters of `text`. */
  readonly marks: readonly (readonly [start: number, end: number])[]
}

/** Characters of a snippet, and of it before the first found word. */
const snippetLength = 200
const lead = 60

/** The piece of a text around the first found words; reads no further, since a text may be full of them. */
export function snippetOf(text: string, groups: readonly SearchGroup[]): Snippet {
  const terms: Term[] = []
  const places: [number, number][] = []
  let earliest = Number.POSITIVE_INFINITY
  for (const term of termsIn(text.slice(0, searchedLength))) {
    if (term.start > earliest + snippetLength) break
    terms.push(term)
    for (const group of groups) {
      const start = startOfLast(terms, group)
      if (start === undefined) continue
      places.push([start, term.end])
      earliest = Math.min(earliest, start)
    }
  }
  const marks = merged(places)
  const first = marks[0]?.[0] ?? 0
  const start = first <= lead ? 0 : wordStart(text, first - lead)
  const end = Math.min(text.length, start + snippetLength)
  const piece = text.slice(start, end).replace(/\s/g, ' ')
  const before = start > 0 ? '…' : ''
  return {
    text: `${before}${piece}${end < text.length ? '…' : ''}`,
    marks: marks
      .filter((mark) => mark[0] >= start && mark[1] <= end)
      .map(([from, to]) => [from - start + before.length, to - start + before.length]),
  }
}

function* termsIn(text: string): Generator<Term> {
  for (const { 0: word, index } of text.matchAll(/[\p{L}\p{M}\p{N}]+/gu)) {
    const terms: Term[] = []
    if (unspaced.test(word)) addRuns(word, index, terms)
    else addWord(word, index, terms)
    yield* terms
  }
}

function addWord(word: string, start: number, terms: Term[]): void {
  const term = termOf(word)
  if (term !== '') terms.push({ term, start, end: start + word.length })
}

/** A word with characters of such scripts, which may hold others, as in "3月". */
function addRuns(word: string, from: number, terms: Term[]): void {
  for (const { 0: part, index } of word.matchAll(runs)) {
    const start = from + index
    if (!unspaced.test(part)) {
      addWord(part, start, terms)
      continue
    }
    const characters = [...part]
    const isPlain = plainCharacters.test(part)
    let at = start
    for (const [number, character] of characters.entries()) {
      const next = characters[number + 1] ?? ''
      const term = isPlain ? character + next : termOf(character + next)
      if (term !== '') terms.push({ term, start: at, end: at + character.length + next.length })
      at += character.length
    }
  }
}

/** Characters that are their own terms: the common ones of Chinese, Japanese and Korean, which need not be normalised pair by pair. */
const plainCharacters = /^[\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]+$/

const runs = new RegExp(`(?:${unspaced.source})+|(?:(?!${unspaced.source}).)+`, 'gsu')

function termOf(word: string): string {
  // Compatibility forms may hold other characters than letters, such as the brackets of ㈱.
  return plain(unified(word).toLowerCase()).replace(/[^\p{L}\p{M}\p{N}]/gu, '')
}

/** The beginning of a group that ends with the last of the terms; undefined where none does. */
function startOfLast(terms: readonly Term[], { terms: asked, isPrefix }: SearchGroup): number | undefined {
  const from = terms.length - asked.length
  const last = asked.length - 1
  const fits = (term: string, index: number) => {
    const here = terms[from + index]!.term
    return index === last && isPrefix ? here.startsWith(term) : here === term
  }
  // The last one first: most terms end no group.
  return from >= 0 && fits(asked[last]!, last) && asked.every(fits) ? terms[from]!.start : undefined
}

/** Places in order, those that touch or overlap as one. */
function merged(places: readonly [number, number][]): readonly (readonly [number, number])[] {
  const all: [number, number][] = []
  for (const [start, end] of places.toSorted((a, b) => a[0] - b[0])) {
    const before = all.at(-1)
    if (before && start <= before[1]) before[1] = Math.max(before[1], end)
    else all.push([start, end])
  }
  return all
}

/** The beginning of a word at or a little behind a place, so that no word and no character is cut. */
function wordStart(text: string, at: number): number {
  const space = text.slice(at, at + 20).search(/\s/)
  if (space >= 0) return at + space + 1
  return /[\udc00-\udfff]/.test(text.charAt(at)) ? at + 1 : at
}
