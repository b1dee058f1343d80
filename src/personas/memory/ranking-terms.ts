import { irregularForms } from './irregular-forms.ts'
import { wordsIn } from './language-words.ts'
import { stem } from './stem.ts'

/**
 * The index terms of a text, in order, function words included. Latin, Greek and Cyrillic words lose case and
 * diacritics; English ones are stemmed, irregular forms too. Scripts written without spaces become overlapping pairs of
 * characters, Chinese ones single characters as well: bigrams find words of two characters, trigrams would not.
 * Every store indexes exactly these terms, so that all of them find the same.
 * A term is one or more letters, marks and digits: never empty, and never query syntax of an engine.
 */
export function termsOf(text: string): string[] {
  const terms: string[] = []
  for (const word of wordsOf(text)) {
    if (unspaced.test(word)) addCharacters(word, terms)
    else addWord(word, terms)
  }
  return terms
}

/** The words of a text as they are written, lower case, compatibility forms unified, a possessive's ending cut off, elided words apart. */
export function wordsOf(text: string): string[] {
  return (
    unified(text)
      .toLowerCase()
      .replace(/(\p{L})['’]s(?!\p{L})/gu, '$1')
      .replace(elided, '$1 ')
      // Digits with separators stay one number.
      .replace(/(\d)[,'’](?=\d{3}(?!\d))/g, '$1')
      .match(/[\p{L}\p{M}\p{N}]+(?:['’]\p{L}+)?/gu) ?? []
  )
}

/** Characters that a text may gain by its compatibility forms: U+FDFA alone becomes 18, which a text of them would be times as long. */
const mostGained = 2_000

/** Characters that are normalised at once. */
const pieceLength = 100

/** Marks, and vowels and finals of Korean syllables, which the character before them may take in. */
const joining = /^[\p{M}\u1160-\u11ff\uff9e-\uffdc]/u

/** A text with compatibility forms unified (NFKC), unless one would gain more than `mostGained` characters. */
export function unified(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text
  let left = mostGained
  let whole = ''
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(text, start)
    const piece = text.slice(start, end)
    const form = piece.normalize('NFKC')
    const gained = form.length - piece.length
    const fits = gained <= left
    if (fits) left -= Math.max(0, gained)
    whole += fits ? form : piece
    start = end
  }
  return whole
}

/** The end of a piece: before a character that joins nothing, if one is near. */
function pieceEnd(text: string, start: number): number {
  const most = start + pieceLength
  for (let end = most; end > start + pieceLength / 2 && end < text.length; end--) {
    const isHalf = /[\udc00-\udfff]/.test(text.charAt(end))
    if (!isHalf && !joining.test(String.fromCodePoint(text.codePointAt(end)!))) return end
  }
  return Math.min(most, text.length)
}

/** Articles, pronouns and prepositions that lose their vowel before another in French and Italian: l'hôtel, d'Annecy, dell'anno. */
const elided =
  /(?<![\p{L}\p{M}\p{N}'’])(l|d|j|m|t|s|c|n|qu|jusqu|lorsqu|puisqu|quelqu|dell|all|nell|sull|dall|un|quest|quell|gl)['’](?=\p{L}{2})/gu

/** Whether a word is an English function word. @param word as `wordsOf` gives it */
export function isFunctionWord(word: string): boolean {
  return wordsIn('en').functions.has(plain(word))
}

/** Adds a single word as a term, unless it is nothing but accents. */
function addWord(word: string, terms: string[]): void {
  const letters = plain(word)
  if (letters !== '') terms.push(stem(irregularForms.get(letters) ?? letters))
}

/** A word without apostrophes and without the diacritics of European scripts; marks of other scripts are letters and stay. */
export function plain(word: string): string {
  return word
    .replace(/['’]/g, '')
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .replaceAll('ß', 'ss')
}

export const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const run = new RegExp(`${unspaced.source}+|[^${unspaced.source.slice(1, -1)}]+`, 'gu')

function addCharacters(word: string, terms: string[]): void {
  for (const part of word.match(run) ?? []) {
    const characters = unspaced.test(part) ? [...part] : []
    if (characters.length === 0) addWord(part, terms)
    characters.forEach((character, at) => {
      if (characters.length === 1 || /\p{Script=Han}/u.test(character)) terms.push(character)
      if (at > 0) terms.push(characters[at - 1] + character)
    })
  }
}
