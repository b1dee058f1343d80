import { readData } from '../shared/data.ts'
import { hasFewWords, joinFewWords } from './few-words.ts'

/** Abbreviations of the ten languages, in small letters: their dot ends a sentence never or not always. */
interface Abbreviations {
  /** Those that are followed by the name or number they belong to: their dot never ends a sentence. */
  readonly leading: readonly string[]
  /** Those that may end a sentence as well: the next word decides. */
  readonly trailing: readonly string[]
  /** Names that a capitalised word may go on (`U.S. Army`, `Apple Inc. Cupertino`); they end before a word that begins one. */
  readonly named: readonly string[]
  /** Words that begin an English sentence far more often than they go on a name. */
  readonly openers: readonly string[]
  /** Words before an ordinal number, which German writes with a dot: `am 24. Dezember`. */
  readonly beforeOrdinal: readonly string[]
}

const lists = readData<Abbreviations>('text/abbreviations.json')
const [leading, trailing, openers] = [new Set(lists.leading), new Set(lists.trailing), new Set(lists.openers)]

/** Nouns that often follow a German ordinal: `am 3. Mai`, `der 2. Weltkrieg`. */
const afterOrdinal =
  /^\s(?:Jan|Feb|März|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Jahr|Weltkrieg|Stock|Etage|Klasse|Platz|Mal|Advent|Tag|Woche|Liga)/

const closers = '"\'”’»›)\\]}」』】）〕》〉］｝'
/** A run of end marks with its closing quotes and brackets; French puts a space before both. Full-width marks end a sentence also without a space. */
const endMarks = new RegExp(`([.!?…]+|[。！？｡．]+[.!?…。！？]*)((?:[${closers}]| »)*)`, 'gu')

/**
 * Splits sanitised text at the ends of its sentences, in all ten languages: a line feed always ends one; a dot does not
 * after an abbreviation, an initial, an ordinal, or inside a number or address. The pieces are trimmed, none is empty,
 * and together they hold every character but white space.
 */
export function splitSentences(text: string): string[] {
  return text.split('\n').flatMap(splitParagraph)
}

function splitParagraph(paragraph: string): string[] {
  const sentences: string[] = []
  let from = 0
  for (const found of paragraph.matchAll(endMarks)) {
    const end = found.index + found[0].length
    if (!endsSentence(paragraph, from, found.index, found[1]!, found[2]!)) continue
    sentences.push(paragraph.slice(from, end))
    from = end
  }
  sentences.push(paragraph.slice(from))
  return sentences.map((sentence) => sentence.trim()).filter((sentence) => sentence !== '')
}

function endsSentence(text: string, from: number, at: number, marks: string, quotes: string): boolean {
  const end = at + marks.length + quotes.length
  const next = text.slice(end, end + 24)
  if (/^[。！？｡．]/.test(marks)) return !(quotes !== '' && /^(?:と|って|、|，)/.test(next))
  if (next !== '' && !/^\s/.test(next))
    return /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u.test(next) && marks !== '.'
  // A small letter continues the sentence: `"Stop!" he said`, `approx. five`.
  if (/^\s*["'“‘«(¿¡-]*\p{Ll}/u.test(next)) return false
  if (marks !== '.') return true
  // A word longer than any abbreviation needs no look; the bound keeps hostile text linear.
  const before = text.slice(Math.max(from, at - 24), at)
  const word = /[^\s"'’“„‘«([]*$/.exec(before)?.[0] ?? ''
  const small = word.toLowerCase()
  if (leading.has(small)) return false
  if (trailing.has(small)) return !/^\s*(?:\p{N}|[IVX]{1,6}(?!\p{L})|(?:[CEMP][DS]T|GMT|UTC|CET)(?!\p{L}))/u.test(next)
  if (/^[IVX]{1,5}$/.test(word) && /^ (?:Jahrhundert|Jh)/.test(next)) return false
  if (/str$/.test(small) && /^\s*\p{N}/u.test(next)) return false
  if (lists.named.includes(small))
    return next.trim() === '' || openers.has(/^\s*["'“‘(]*([\p{L}'’]+)/u.exec(next)?.[1]?.toLowerCase() ?? '')
  // The halves of `EE. UU.`, `JJ. OO.`; the second one ends it where a capital follows.
  if (/^(\p{Lu})\1$/u.test(word)) return !/^\s(\p{Lu})\1\./u.test(next)
  // After a year, or as the end of `т. д.` and `5 p. m.`, a capital begins a new sentence.
  if (/(?:\p{N} ?гг?|т\. ?[дп]|\p{N} ?[ap]\. ?m)$/iu.test(before)) return true
  if (small === 'г') return false
  // Initials and abbreviations of single letters: `J. K. Rowling`, `z. B.`
  if (/^(?:\p{L}\.)*\p{L}$/u.test(word)) return false
  if (!/^\d{1,2}$/.test(word)) return true
  // A number that opens the line counts a list; German writes ordinals with a dot.
  const article = /(\p{L}+) $/u.exec(before.slice(0, before.length - word.length))?.[1] ?? ''
  if (lists.beforeOrdinal.includes(article.toLowerCase())) return false
  return at - word.length > from + (text[from] === ' ' ? 1 : 0) && !afterOrdinal.test(next)
}

/** The longest piece of text that one call of an engine gets. */
const chunkLimit = 500

/**
 * Packs sentences into chunks of at most `limit` characters (code points). A longer sentence is cut after a clause mark,
 * else between words, and only a single word that is longer than a chunk is cut inside, never within a grapheme. No chunk
 * has fewer than three words where it can share a neighbour's.
 */
export function splitChunks(text: string, limit = chunkLimit): string[] {
  const chunks: string[] = []
  let chunk = ''
  let length = 0
  for (const [paragraph, lines] of text.split('\n').entries()) {
    for (const [index, sentence] of splitParagraph(lines)
      .flatMap((whole) => cutLong(whole, limit))
      .entries()) {
      const size = countCharacters(sentence)
      if (length > 0 && length + 1 + size > limit) {
        chunks.push(chunk)
        chunk = ''
        length = 0
      }
      const glue = length === 0 ? '' : index === 0 && paragraph > 0 ? '\n' : ' '
      chunk += glue + sentence
      length += glue.length + size
    }
  }
  if (chunk !== '') chunks.push(chunk)
  const fits = (piece: string) => countCharacters(piece) <= limit
  return joinFewWords(chunks, fits, (joined) => divide(joined, fits))
}

/** Cuts near the middle behind a sentence, else a clause, else a word, into pieces that fit and have more than two words. */
export function divide(text: string, fits: (piece: string) => boolean): readonly [string, string] | undefined {
  const middle = text.length / 2
  for (const gap of [
    new RegExp(`(?<=[.!?…。！？][${closers}]?)\\s`, 'gu'),
    /(?<=[,;:—–])\s|(?<=[，、；：])/gu,
    /\s/gu,
  ]) {
    const cuts = [...text.matchAll(gap)].map(({ index }) => index)
    for (const at of cuts.toSorted((one, other) => Math.abs(one - middle) - Math.abs(other - middle))) {
      const halves = [text.slice(0, at).trim(), text.slice(at).trim()] as const
      if (halves.every((half) => fits(half) && !hasFewWords(half))) return halves
    }
  }
  return undefined
}

/** Counts code points: characters as a reader counts them, but for combining marks. */
export function countCharacters(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; count++) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
  return count
}

/** Seconds of silence that belong after a chunk: a breath between clauses, more after a sentence. */
export function pauseAfter(chunk: string): number {
  if (/[,;:，、；：—–-]["'”’»」』）)]*$/u.test(chunk)) return 0.15
  return /[.!?…。！？｡]["'”’»」』）)]*$/u.test(chunk) ? 0.35 : 0.25
}

function cutLong(sentence: string, limit: number): string[] {
  const pieces: string[] = []
  let rest = sentence
  while (rest.length > limit && countCharacters(rest) > limit) {
    const at = cutAt(window(rest, limit), rest)
    pieces.push(rest.slice(0, at).trimEnd())
    rest = rest.slice(at).trimStart()
  }
  if (rest !== '') pieces.push(rest)
  return pieces
}

/** The first `limit` characters. */
function window(text: string, limit: number): string {
  let at = 0
  for (let count = 0; count < limit && at < text.length; count++) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
  return text.slice(0, at)
}

/** Where to cut: the last clause mark in the second half of the window, else the last gap between words, else a grapheme. */
function cutAt(head: string, whole: string): number {
  const clause = lastEnd(head, new RegExp(`[,;:—–]["'”’»)]*(?=\\s)|[，、；：·][${closers}]*`, 'gu'))
  if (clause > head.length / 2) return clause
  const space = whole[head.length] === ' ' ? head.length : head.lastIndexOf(' ')
  if (space > head.length / 4) return space
  return lastBoundary(head, whole, 'word') || Math.max(space, 0) || lastBoundary(head, whole, 'grapheme') || head.length
}

function lastEnd(text: string, pattern: RegExp): number {
  let end = 0
  for (const found of text.matchAll(pattern)) end = found.index + found[0].length
  return end
}

/** The last boundary within `head` that is one in the whole text too; 0 when there is none. */
function lastBoundary(head: string, whole: string, granularity: 'word' | 'grapheme'): number {
  const segmenter = new Intl.Segmenter(undefined, { granularity })
  let last = 0
  // A few characters beyond the window show whether its end falls inside a word.
  for (const { index } of segmenter.segment(whole.slice(0, head.length + 40))) if (index <= head.length) last = index
  return last
}
