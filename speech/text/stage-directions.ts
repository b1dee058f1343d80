import { wordSet } from './word-set.ts'

/** Longer phrases are never looked into, in characters. */
export const longestDirection = 120

/** Verbs of voice and face. */
const expressions = `
  sigh laugh chuckle giggle cackle snicker snigger snort gasp sob weep cry whimper moan groan grunt growl sniff sniffle
  cough sneeze yawn gulp exhale inhale stammer stutter mumble mutter murmur whisper hum shout yell scream shriek sing smile
  grin smirk frown scowl pout sneer blush wince cringe wink nod shrug bow curtsy kneel shiver shudder fidget squirm
  hesitate pause swallow purr wave sip facepalm plead think blink tremble`.trim()

/** Verbs of movement, which say other things too: each with the words of which one follows within the next three. */
const movements = `
  look away down around you him her me watch, glance away down around over you him her, stare blankly floor you him her,
  gaze distance eyes, turn away around pale red, lean closer in back forward against, step closer back forward aside,
  sit down up beside next, stand up, get up, walk away off, jump up, take breath sip seat hand, catch breath,
  clear throat, roll eyes, shake head fist, raise eyebrow eyebrows voice hand, lower voice eyes head, narrow eyes,
  close eyes, tilt head, hang head, bite lip, lick lips, cross arms, fold arms, clench fists teeth, grit teeth,
  clap hands, rub eyes neck chin, scratch head neck chin, wipe tear tears eyes, wring hands, hold breath,
  pat shoulder head, hug you him her tightly, kiss cheek forehead, pull closer, run hair, wag tail, perk up, snap fingers,
  tap chin microphone, stretch arms lazily, burst laughter tears laughing, choke tears, hide face, cover face mouth,
  bury face, slam door, throw hands arms, trail off, speak slowly softly quietly loudly quickly,
  try laugh cry smile, start laugh laughing cry crying, back away, check watch, toss hair, play hair, drop gaze, pace back,
  crack knuckles, adjust glasses`

/** What may follow a verb of voice besides an adverb; behind its `-ing`, which is a noun as well, less may. */
const behindVerb = /^(?:in|at|with|to|under|through|into|while|as|again|out|hard)$/
const behindParticiple = /^(?:under|through|again)$/

/** Ways to speak, which are a direction alone: `softly`, `nervous but excited`. */
const manners = wordSet(`
  softly quietly loudly gently warmly coldly calmly shyly proudly slowly angrily bitterly drily dryly sadly tearfully
  nervously hesitantly excitedly cheerfully sarcastically mockingly playfully teasing excited nervous sarcastic furious
  confused annoyed embarrassed exhausted serious playful amused breathless deadpan aside`)

/** Verbs that double their last letter: `nodding`. */
const doubling = /(?:grin|nod|shrug|sob|hum|sit|get|run|pat|hug|wag|tap|snap|clap|grit|step|drop|sip)$/

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

/** Voices and faces of the other languages of the speech servers: a direction begins with one and has three words at most. */
const cues = wordSet(`
  lacht lachend lachen gelächter kichert seufzt seufzend hustet räuspert weint schluchzt flüstert flüsternd stöhnt grinst
  lächelt nickt gähnt schweigt applaus rit rires rire riant soupire soupir tousse chuchote murmure pleure crie sourit
  applaudissements ríe ríen risas suspira suspiro tose susurra llora grita sonríe bosteza aplausos ride risate sospira
  sospiro tossisce sussurra piange sorride applausi risos suspirando tosse chora sorri aplauso смех смеётся смеется вздох
  вздыхает кашляет шёпотом шепотом шепчет плачет рыдает кричит улыбается кивает зевает аплодисменты тихо 笑 笑い 爆笑 大笑
  苦笑 微笑 冷笑 哭 哭泣 泣く 叹气 叹息 ため息 溜息 低声 小声 大声 耳语 咳 咳嗽 停顿 沉默 沈黙 掌声 拍手 点头 웃음 웃으며 한숨 속삭이며 기침
  울음 침묵 박수 미소
`)
const foreignManner = /^(?:mit .{1,20} stimme|à voix \p{L}+|(?:en|em) voz \p{L}+|a voce \p{L}+|\p{L}+ голосом)$/iu

type Form = 's' | 'ing'
interface Verb {
  readonly form: Form
  /** Words of which one follows; none for a verb of voice. */
  readonly followers: ReadonlySet<string> | undefined
}
const verbs = new Map<string, Verb>()
for (const verb of expressions.split(/\s+/)) addVerb(verb, undefined)
for (const line of movements.split(',')) {
  const [verb, ...followers] = line.trim().split(/\s+/)
  addVerb(verb!, new Set(followers))
}
const bareVerbs = wordSet(expressions)

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
  const stem = doubling.test(verb) ? verb + verb.at(-1) : verb.replace(/(?<!e)e$/, '')
  verbs.set(third, { form: 's', followers })
  verbs.set(`${stem}ing`, { form: 'ing', followers })
}
