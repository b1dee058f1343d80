import { impersonalPhrases } from './english-direction-phrases.ts'
import * as lists from './english-direction-words.ts'
import { longest, readBody, readClause } from './english-directions.ts'
import { afterAdverbs, type Form, formAny, formOf, has, isAdverb, wordsOf } from './english-word-forms.ts'

/**
 * Reads the text between asterisks as the action of a role, in which any noun may follow: `opens the old map`, `turning
 * red`, `my eyes widen`. Returns the form of its verb, or `clause` for one with a subject of its own; undefined where its
 * verb is no verb of directions or it is written like a title.
 */
export function rolePlayedIn(inside: string): 's' | 'ing' | 'clause' | undefined {
  const words = wordsOf(inside)
  if (words.length === 0 || words.length > longest * 2 || impersonalPhrases.test(inside) || isTitle(words))
    return undefined
  const at = Math.min(afterAdverbs(words, 0), words.length - 1)
  if (isShownVerb(words, at)) return 's'
  const form = playedForm(words[at])
  if (form === 's' || form === 'ing') return playsAlone(words, at, form) ? form : undefined
  return isPlayedClause(words, at) ? 'clause' : undefined
}

/** Half of its words begin with a capital. */
function isTitle(words: readonly string[]): boolean {
  const capitals = words.slice(1).filter((word) => /^\p{Lu}/u.test(word) && word !== 'I').length
  return words.length > 1 && capitals * 2 >= words.length
}

/** An action without a subject, its verb at this place. */
function playsAlone(words: readonly string[], at: number, form: 's' | 'ing'): boolean {
  if (form === 'ing' && !isPlayedParticiple(words, at)) return false
  if (form === 's' && has(lists.stateVerbs, words[at]) && words.length === at + 2 && !readClause(words, at))
    return false
  const next = words[at + 1]
  if (next === undefined) return form === 's' && readClause(words, 0) === 'action'
  if (!/^(?:and|or|of|is|are|was)$/.test(next)) return true
  return next === 'and' && playedForm(words[at + 2]) === form
}

/** A participle needs an article, a place or a manner behind it: `asking questions` and `a breaking change` are no movement. */
function isPlayedParticiple(words: readonly string[], at: number): boolean {
  const isName = /^\p{Lu}/u.test(words[0]!) && words.slice(1).some((word) => /^\p{Lu}/u.test(word))
  if (isName || formAny(words[at]) === undefined || /^(?:read|writ)ing$/i.test(words[at]!)) return false
  const next = words[at + 1]
  return next === undefined || isAdverb(next) || fromParticiple.some((list) => has(list, next))
}

const fromParticiple = [
  lists.determiners,
  lists.prepositions,
  lists.particles,
  lists.bodies,
  lists.props,
  lists.moods,
  lists.persons,
  lists.afterParticiple,
]

/** A clause with its subject: `eyes widen`, `she smiles`, `his hands are shaking`. */
function isPlayedClause(words: readonly string[], start: number): boolean {
  const [first, second, third] = words
  if (has(lists.bodies, first)) {
    const form = playedForm(second)
    if (form === 's' || (form === 'base' && /s$/.test(first!))) return true
  }
  const isPerson = /^(?:he|she|they|i|we)$/i.test(words[start] ?? '')
  let at = start
  while (isPerson && isAdverb(words[at + 1])) at += 1
  const isSpeakersThought =
    /^(?:i|we)$/i.test(words[at] ?? '') && /^(?:think|hope|swear|see|guess|mean|say|said)/i.test(words[at + 1] ?? '')
  const form = isSpeakersThought ? undefined : formAny(words[at + 1])
  if (isPerson && form !== undefined && form !== 'ed') return true
  if (!/^(?:his|her|my|their)$/i.test(first!) || !has(lists.bodies, second) || third === undefined) return false
  return readBody(words, 0) || /(?:s|ing|ed)$/.test(third)
}

/** A verb in the third person that no list has, which an article or an owner shows: `rearranges the items`. */
function isShownVerb(words: readonly string[], at: number): boolean {
  const verb = words[at]!
  return (
    /^\p{Ll}{2,}[^s\P{L}]s$/u.test(verb) && !has(lists.impersonalVerbs, verb) && has(lists.objectOpeners, words[at + 1])
  )
}

function playedForm(word: string | undefined): Form | undefined {
  return word === undefined ? undefined : (formAny(word) ?? formOf(lists.played, word))
}
