import { irregularForms, isFunctionWord, plain, wordsOf } from '../personas/personas.ts'

/** Whether a word is known. */
export type Vocabulary = (word: string) => boolean

/**
 * The base forms of the words of a text that say something, in order. Words that no rule leads to a known one come back as
 * they are. Used alike for training and for embedding, so that both speak of the same words.
 */
export function contentWords(text: string, known: Vocabulary): string[] {
  return wordsOf(text)
    .filter((word) => !isFunctionWord(word))
    .map((word) => plain(word.replace(/['’].*/su, '')))
    .filter((word) => word.length > 1 && !isFunctionWord(word))
    .map((word) => baseForm(word, known))
}

/** The word itself where it is known, else its base form; irregular forms first, since some are words as well. */
export function baseForm(word: string, known: Vocabulary): string {
  const irregular = irregularForms.get(word)
  if (irregular !== undefined && known(irregular)) return irregular
  if (known(word)) return word
  return inflected(word, known) ?? word
}

/**
 * The parts of an unknown word by which it can be guessed: the two words of a compound (`webcam`, `homesick`), or the one
 * that a prefix or suffix was put to (`unboiled`, `catlike`). Empty when nothing fits.
 */
export function partsOf(word: string, known: Vocabulary): readonly string[] {
  if (word.length > longestCompound) return []
  const compound = splitCompound(word, known)
  if (compound) return compound
  for (const [affix, replacements] of suffixes) {
    if (!word.endsWith(affix)) continue
    const root = word.slice(0, -affix.length)
    const found = replacements.map((ending) => root + ending).find((each) => each.length > 2 && known(each))
    if (found) return [found]
  }
  const prefix = prefixes.find((each) => word.startsWith(each) && word.length > each.length + 2)
  const rest = prefix && baseForm(word.slice(prefix.length), known)
  return rest && known(rest) ? [rest] : []
}

/**
 * Letters. WordNet's longest words have some thirty; trying each place of a word as long as a text takes the square of its
 * length, which is seconds.
 */
const longestCompound = 64

/** WordNet's detachment rules (https://wordnet.princeton.edu/documentation/morphy7wn). */
const detachments: readonly (readonly [ending: string, replacement: string])[] = [
  ['s', ''],
  ['ses', 's'],
  ['ves', 'f'],
  ['xes', 'x'],
  ['zes', 'z'],
  ['ches', 'ch'],
  ['shes', 'sh'],
  ['men', 'man'],
  ['ies', 'y'],
  ['es', 'e'],
  ['es', ''],
  ['ed', 'e'],
  ['ed', ''],
  ['ing', 'e'],
  ['ing', ''],
  ['er', ''],
  ['est', ''],
  ['er', 'e'],
  ['est', 'e'],
]

function inflected(word: string, known: Vocabulary): string | undefined {
  for (const [ending, replacement] of detachments) {
    if (!word.endsWith(ending) || word.length - ending.length < 2) continue
    const base = word.slice(0, -ending.length) + replacement
    if (known(base)) return base
  }
  const doubled = /^(.*?([bdfglmnprtz]))\2(?:ing|ed|er|est)$/.exec(word)
  return doubled && known(doubled[1]!) ? doubled[1] : undefined
}

/** British spellings and derivations that WordNet has in another form. */
const suffixes: readonly (readonly [suffix: string, replacements: readonly string[]])[] = [
  ['ising', ['ize', 'izing']],
  ['ised', ['ize']],
  ['ise', ['ize']],
  ['isation', ['ization']],
  ['our', ['or']],
  ['ness', ['', 'y']],
  ['lessly', ['less', '']],
  ['less', ['']],
  ['fully', ['ful', '']],
  ['ably', ['able', '']],
  ['able', ['', 'e']],
  ['ily', ['y']],
  ['ly', ['', 'le', 'e']],
  ['ship', ['']],
  ['like', ['']],
  ['ish', ['', 'e']],
  ['ers', ['', 'e']],
  ['er', ['', 'e']],
  ['ist', ['', 'y', 'e']],
  ['y', ['', 'e']],
  ['ie', ['', 'y']],
]

const prefixes = ['anti', 'counter', 'ultra', 'super', 'over', 'under', 'inter', 'non', 'mis', 'pre', 'dis', 'un', 're']

/** Two known words of at least three letters, the longer first part winning. */
function splitCompound(word: string, known: Vocabulary): readonly string[] | undefined {
  for (let at = word.length - 3; at >= 3; at--) {
    const head = word.slice(0, at)
    const tail = baseForm(word.slice(at), known)
    if (known(head) && known(tail)) return [head, tail]
  }
  return undefined
}
