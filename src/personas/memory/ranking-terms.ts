import { irregularForms } from './irregular-forms.ts'
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

/** The words of a text as they are written, lower case, compatibility forms unified, a possessive's ending cut off. */
export function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .replace(/(\p{L})['’]s(?!\p{L})/gu, '$1')
      // Digits with separators stay one number.
      .replace(/(\d)[,'’](?=\d{3}(?!\d))/g, '$1')
      .match(/[\p{L}\p{M}\p{N}]+(?:['’]\p{L}+)?/gu) ?? []
  )
}

/** The terms of a query: without function words, unless it has no others; each once. */
export function queryTermsOf(query: string): string[] {
  const telling: string[] = []
  for (const word of wordsOf(query)) {
    if (unspaced.test(word)) addCharacters(word, telling)
    else if (!functionWords.has(plain(word))) addWord(word, telling)
  }
  return [...new Set(telling.length > 0 ? telling : termsOf(query))]
}

/** Whether a word is a function word. @param word as `wordsOf` gives it */
export function isFunctionWord(word: string): boolean {
  return functionWords.has(plain(word))
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

const unspaced =
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

/** English function words, without apostrophes. */
const functionWords: ReadonlySet<string> = new Set(
  `a about above after again against all also am an and any are arent as at be because been before being below between
  both but by can cannot cant could couldnt did didnt do does doesnt doing dont down during each either else even ever
  every few for from further get gets getting got had hadnt has hasnt have havent having he hed hell her here hers herself
  hes him himself his how i id if ill im in into is isnt it its itself ive just let lets lot many may me might more most
  much must my myself neither no nor not now of off on once one only onto or other our ours ourselves out over own per
  quite rather really same shall she shed shes should shouldnt so some such than that thats the their theirs them
  themselves then there theres these they theyd theyll theyre theyve this those through to too toward towards under until
  up upon us very was wasnt we wed well were werent weve what whats when where which while who whom whos whose why will
  with within without wont would wouldnt yes yet you youd youll your youre yours yourself yourselves youve`.split(
    /\s+/,
  ),
)
