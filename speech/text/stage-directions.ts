import { readData } from '../shared/data.ts'

/** Longer phrases are never looked into, in characters. */
export const longestDirection = 120

interface Directions {
  /** Verbs of voice and face. */
  readonly expressions: readonly string[]
  /** Verbs of movement, which say other things too: each with the words of which one follows within the next three. */
  readonly movements: readonly (readonly [verb: string, ...followers: string[]])[]
  /** Verbs that double their last letter: `nodding`. */
  readonly doubling: readonly string[]
  /** Ways to speak, which are a direction alone: `softly`, `nervous but excited`. */
  readonly manners: readonly string[]
  /** Voices and faces of the other languages of the speech servers: a direction begins with one and has three words at most. */
  readonly cues: readonly string[]
}

const { expressions, movements, doubling, ...lists } = readData<Directions>('text/stage-directions.json')
const [bareVerbs, manners, cues] = [new Set(expressions), new Set(lists.manners), new Set(lists.cues)]

/** What may follow a verb of voice besides an adverb; behind its `-ing`, which is a noun as well, less may. */
const behindVerb = /^(?:in|at|with|to|under|through|into|while|as|again|out|hard)$/
const behindParticiple = /^(?:under|through|again)$/

/** A clause with one of these tells a fact: `crying is normal`. */
const factual = /(?:^|\s)(?:is|are|was|were|be|been|has|have|had|can|may|will|must|should)(?:\s|$)/i

/** Voices, faces and pauses as nouns: `in a low voice`, `with a sigh`, `long pause`. */
const manner = new RegExp(
  [
    '(?:in|with) an? (?:[\\p{L}-]+,? ){0,4}(?:voice|tone|whisper|accent|murmur|drawl|sigh|smile|grin|smirk|shrug|laugh|chuckle)',
    'to (?:him|her|them)sel(?:f|ves)|to (?:the )?(?:audience|camera|crowd)|under (?:his|her|my|your|their) breath|through (?:gritted teeth|(?:his |her |my )?tears)',
    '(?:an? )?(?:(?:long|short|brief|deep|heavy|dramatic|awkward|nervous|soft) )?(?:pause|beat|silence|breath|laughter|applause)',
  ].join('|'),
  'iu',
)

const foreignManner = /^(?:mit .{1,20} stimme|à voix \p{L}+|(?:en|em) voz \p{L}+|a voce \p{L}+|\p{L}+ голосом)$/iu

type Form = 's' | 'ing'
interface Verb {
  readonly form: Form
  /** Words of which one follows; none for a verb of voice. */
  readonly followers: ReadonlySet<string> | undefined
}
const verbs = new Map<string, Verb>()
for (const verb of expressions) addVerb(verb, undefined)
for (const [verb, ...followers] of movements) addVerb(verb, new Set(followers))

/**
 * Whether a phrase in brackets or asterisks is a stage direction, which is not to be read aloud: it is a sentence or
 * opens one, and begins with one of some 120 verbs of voice and movement (`sighs`, `leaning closer`) or with
 * `in a … voice` and its like. A kept direction is a small flaw, a lost half sentence is a large one.
 *
 * @param before the text before the phrase, at least its last signs
 * @param after the text behind it
 */
export function isStageDirection(inside: string, before: string, after: string): boolean {
  if (inside.length > longestDirection || /[\p{N}@/=]/u.test(inside) || factual.test(inside)) return false
  if (!opensSentence(before) || /^[\s,;]*\p{Ll}/u.test(after)) return false
  const phrase = inside.trim().replace(/[.!?…]{1,3}$/, '')
  const words = phrase.split(/\s+/)
  if (isTitle(words)) return false
  return isManner(phrase, words) || isAction(words) || isForeign(phrase)
}

/** Whether a text ends where a sentence begins: behind another's end, a speaker's name, or an opening quotation mark. */
function opensSentence(before: string): boolean {
  const signs = [...before]
  const last = signs.findLastIndex((sign) => !/[\s\p{Extended_Pictographic}]/u.test(sign))
  if (last < 0 || signs.indexOf('\n', last) > 0) return true
  if (/["“«]/.test(signs[last]!) && /^\s?$/.test(signs[last - 1] ?? '')) return true
  const end = signs.slice(0, last + 1).findLast((sign) => !/["'”’»)\]*_]/.test(sign))
  return /^[.!?…:。！？：]$/.test(end ?? '')
}

function isManner(phrase: string, words: readonly string[]): boolean {
  const said = words.filter((word) => !/^(?:and|but|very|slightly)$/.test(word))
  if (said.length > 0 && words.length < 5 && said.every((word) => manners.has(word.toLowerCase()))) return true
  const found = manner.exec(phrase)
  return found?.index === 0 && /^(?:$|,| and | as if )/.test(phrase.slice(found[0].length))
}

/** Words that begin with a verb, as `sighs`, `takes a deep breath`, `voice trembling`, `laughs and looks away`. */
function isAction(words: readonly string[]): boolean {
  const verb = words[0]!.toLowerCase()
  if (words.length === 1 && bareVerbs.has(verb)) return true
  const owner = /^(?:his|her|my|their)$/.test(verb) ? 1 : 0
  if (words[owner]?.toLowerCase() === 'voice')
    return /^(?:break|crack|ris|shak|trembl|drop|fad)(?:s|es|ing)$/i.test(words[owner + 1] ?? '')
  const comma = verb.endsWith(',')
  const known = verbs.get(comma ? verb.slice(0, -1) : verb)
  if (!known) return false
  const rest = words.slice(1)
  const next = rest[0]?.toLowerCase().replace(/,$/, '')
  // `sighs, looks away`, but `coughing, sneezing` is a list.
  if (comma) return known.form === 's' && next !== undefined && isAction(/^then$/.test(next) ? rest.slice(1) : rest)
  if (known.followers)
    return rest.slice(0, 3).some((word) => known.followers!.has(word.toLowerCase().replace(/,$/, '')))
  if (next === undefined) return true
  if (next === 'and' || next === 'then') return rest.length > 1 && isAction(rest.slice(1))
  if (next === 'to' && /^(?:him|her|them)sel/.test(rest[1] ?? '')) return true
  return (
    (known.form === 's' ? behindVerb : behindParticiple).test(next) || (/\p{L}{2}ly$/u.test(next) && next !== 'only')
  )
}

/** Half of the words begin with a capital. */
function isTitle(words: readonly string[]): boolean {
  const capitals = words.slice(1).filter((word) => /^\p{Lu}/u.test(word) && word !== 'I').length
  return words.length > 1 && capitals * 2 >= words.length
}

function isForeign(phrase: string): boolean {
  const words = phrase.toLowerCase().split(/[\s,]+/)
  return (cues.has(words[0]!) && words.length <= 3) || foreignManner.test(phrase)
}

function addVerb(verb: string, followers: Verb['followers']): void {
  const third = /(?:s|x|ch|sh)$/.test(verb) ? `${verb}es` : verb.replace(/([^aeiou])y$/, '$1ie').concat('s')
  const stem = doubling.some((end) => verb.endsWith(end)) ? verb + verb.at(-1) : verb.replace(/(?<!e)e$/, '')
  verbs.set(third, { form: 's', followers })
  verbs.set(`${stem}ing`, { form: 'ing', followers })
}
