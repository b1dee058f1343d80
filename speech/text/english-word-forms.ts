import * as lists from './english-direction-words.ts'

/** The form of a verb: `laugh`, `laughs`, `laughing`, `laughed`. */
export type Form = 'base' | 's' | 'ing' | 'ed'

/** The words of a text, without marks and digits. */
export function wordsOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{M}]+(?:[.'’-][\p{L}\p{M}]+)*/gu)?.map((word) => word.replace('’', "'")) ?? []
}

/** Whether a list holds a word, in any case. */
export function has(list: ReadonlySet<string>, word: string | undefined): boolean {
  return word !== undefined && list.has(word.toLowerCase())
}

const forms = new Map(
  [lists.expressive, lists.moving, lists.handling, lists.taking, lists.going, lists.sounding, lists.played].map(
    (set) => [set, conjugate(set)],
  ),
)

/** The form of a word that is a verb of this list. */
export function formOf(list: ReadonlySet<string>, word: string): Form | undefined {
  return forms.get(list)?.get(word.toLowerCase())
}

/** The form of a word that is one of the verbs of directions. */
export function formAny(word: string | undefined): Form | undefined {
  if (word === undefined) return undefined
  for (const list of forms.keys()) {
    const form = list === lists.played ? undefined : formOf(list, word)
    if (form !== undefined) return form
  }
  return undefined
}

function conjugate(verbs: ReadonlySet<string>): ReadonlyMap<string, Form> {
  const all = new Map<string, Form>()
  for (const verb of verbs) {
    const stem = verb.replace(/([^e])e$/, '$1')
    const soft = verb.replace(/([^aeiou])y$/, '$1i')
    all.set(`${soft}${/(?:s|sh|ch|x|z|i|o)$/.test(soft) ? 'es' : 's'}`, 's')
    // `nod` doubles its consonant, `open` and `shake` do not.
    const doubled = /^[^aeiou]*[aeiou][bdgmnprtv]$/.test(verb) ? `${verb}${verb.at(-1)}` : undefined
    all.set(`${doubled ?? stem}ing`, 'ing')
    all.set(`${doubled ?? soft.replace(/e$/, '')}ed`, 'ed')
    if (verb.endsWith('c')) all.set(`${verb}king`, 'ing')
  }
  for (const verb of verbs) all.set(verb, 'base')
  return all
}

/** Whether a word is an adverb, by the list of those that tell a degree and by its ending. */
export function isAdverb(word: string | undefined): boolean {
  if (word === undefined) return false
  return has(lists.intensifiers, word) || (/^[a-z]{3,}ly$/i.test(word) && !has(lists.otherThanAdverbs, word))
}

/** The place behind the adverbs that stand at a place. */
export function afterAdverbs(words: readonly string[], start: number): number {
  let at = start
  while (isAdverb(words[at])) at += 1
  return at
}

const moodAdverbs = new Set([...lists.moods, ...lists.manners].map(adverbOf))

/** Whether a word is the adverb of a mood or a manner: `angrily`. */
export function isMoodAdverb(word: string | undefined): boolean {
  return has(moodAdverbs, word)
}

function adverbOf(adjective: string): string {
  if (/[^aeiou]le$/.test(adjective)) return adjective.replace(/e$/, 'y')
  if (/^(?:shy|sly|wry|dry)$/.test(adjective)) return `${adjective}ly`
  if (/ic$/.test(adjective)) return `${adjective}ally`
  return `${adjective.replace(/([^aeiou])y$/, '$1i')}ly`
}

/** Whether a word can stand before a noun of voice, face or body: `broad`, `very`, `trembling`, `clenched`. */
export function isQualifier(word: string): boolean {
  return (
    has(lists.moods, word) ||
    has(lists.manners, word) ||
    isAdverb(word) ||
    formOf(lists.expressive, word) === 'ing' ||
    /^(?:ed|ing)$/.test(formOf(lists.moving, word) ?? '')
  )
}
