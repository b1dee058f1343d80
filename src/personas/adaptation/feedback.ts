import type { Observation } from './adaptations.ts'
import { type Manner, mannersIn, mannerWords } from './manner.ts'
import type { Signal } from './state.ts'

/** Characters. A longer message is about its subject, and may quote such phrases. */
const longestFeedback = 240

/**
 * Reads feedback on the manner of an answer from the English user message after it; undefined for none. Only words about the
 * persona's answers count: "Your answer was too simple", "be shorter", "too long"; not "the coffee was too simple". So all
 * words of a clause must be of the vocabulary below, or the clause must address the persona. Such phrases are weak evidence:
 * the persona's settings and the rules of adaptation decide whether and when an observation moves anything.
 */
export function noticeFeedback(message: string): Observation | undefined {
  if (message.length > longestFeedback) return undefined
  const clauses = clausesOf(message)
  if (clauses.some(({ words }) => isReport(words))) return undefined
  const signals: Signal[] = []
  let subject: Subject = 'answer'
  clauses.forEach(({ words, sentence }, at) => {
    const next = clauses[at + 1]
    const namesSubject = next?.sentence === sentence && determiners.has(next.words[0]!) && !isKnown(next.words)
    for (const { trait, target } of feedbackIn(words, namesSubject ? 'other' : subject))
      if (!signals.some((signal) => 'trait' in signal && signal.trait === trait)) signals.push({ trait, target })
    subject = subjectAfter(words, subject)
  })
  return signals.length === 0 ? undefined : { trigger_event: 'user_correction', signals }
}

/** The thing that a message speaks of, and that "it" and a sentence without a subject mean: `question` asks the persona. */
type Subject = 'answer' | 'question' | 'other'

interface Clause {
  readonly words: readonly string[]
  /** The number of its sentence. */
  readonly sentence: number
}

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/** Words for the persona's answers; with "your" before them, the second list too. */
const replies = words(`answer answers reply replies response responses explanation explanations answering replying
  responding explaining`)
const writings = words(`text texts message messages summary summaries list lists story stories poem poems description
  descriptions tone style wording language words sentences paragraphs writing manner way voice output comments comment`)

/** The words that a clause about an answer consists of, beside those of its manner. */
const common =
  words(`a about appreciate actually again all also always and any anymore are as ask be been before being better but can
  chat complain confused confusing conversation format could dear did difficult do done else even ever everything explain far feel
  feels feedback felt find first fine follow for found friend from full future general generally get gets getting give given
  go going good got great guess had has hard have here hey hi hm hmm honestly hope how i if in instead is it just keep keeping
  kind language last leave less let like little lost lot love loved make making many may maybe me mean might more much must
  need needs never next nice no not now of off often oh ok okay on one ones only or other out own paragraphs perhaps phrase
  please pls point possible prefer previous put question quite rather read reading really respond right same say saying second
  seem seemed seems sentences should shorten so some somewhat sorry sound sounded sounds speak start stay still stop structure style such
  sure talk talking taste tell than thank thanks that the them then there these they thing things think this those thought
  time times to today tone too towards try trying understand understood us use used using usual usually very voice want was
  way well were what when while why will wish with without word wording words would write writing wrong you your yours
  yourself example examples simply yes slightly bit way cut drop skip avoid lose include add reply answer quickly`)

const determiners = words('the that this these those my his her our their a an')
const copulas = words('is are was were been got gets seems seemed sounds sounded feels felt')
const modals = words(
  'can could should would must may might need needs please wish prefer like love want rather better to let',
)
const intensifiers = words(
  'much a bit little lot far way even rather slightly somewhat too very really so just quite still also',
)
const connectors = words('for with to when in at on about if than while because as from during')
const conditions = words('if when whenever unless whether although though who where which what')
const makers = words('make write use add give put include need needs have')
const commands = words(
  'use stop give write answer reply respond explain skip drop avoid try do structure format talk speak phrase say leave cut lose',
)
const telling = words('explain describe tell say put answer reply respond phrase rephrase repeat speak talk')

/** The rewriting of phrases to words that `mannersIn` knows, in this order. */
const rewritings: readonly (readonly [RegExp, string])[] = [
  [/[’‘]/g, "'"],
  [/"[^"]*"|“[^”]*”|«[^»]*»|(?<!\w)'[^']*'(?!\w)/g, ' quotation '],
  [/\bcan't\b/g, 'can not'],
  [/n't\b/g, ' not'],
  [/\bdont\b/g, 'do not'],
  [/\byoure\b/g, 'you are'],
  [/'re\b/g, ' are'],
  [/\b(it|that|this|there|what)'?s\b(?<!this)/g, '$1 is'],
  [/'d\b/g, ' would'],
  [/'m\b/g, ' am'],
  [/'ll\b/g, ' will'],
  [/'ve\b/g, ' have'],
  [/\b(?:if possible|if you (?:can|could|like|want|do not mind))\b/g, 'please'],
  [/\bbullet[ -]points?\b/g, 'bullets'],
  [/\btechnical (?:terms|words|language)\b/g, 'jargon'],
  [
    /\b(?:(?:get|come|cut) (?:straight )?to the (?:point|chase)|just answer(?: the question| me)?)\b/g,
    'be more direct',
  ],
  [/\b(?:stop|do not) (?:rambling|ramble|waffling|waffle|beating around the bush)\b/g, 'be shorter'],
  [/\b(?:talk|write|say|explain) (?:way |far )?too much\b/g, 'are too long'],
  [/\b(?:go deeper|go into (?:more )?detail|elaborate|expand)\b/g, 'give more details'],
  [/\bin (?:plain|simple|simpler|easy|easier|layman's) (?:terms|words|english|language)\b/g, 'more plainly'],
  [/\b(?:like i am (?:five|5)|eli5)\b/g, 'more plainly'],
]

function clausesOf(message: string): readonly Clause[] {
  const text = rewritings.reduce((before, [from, to]) => before.replace(from, to), message.toLowerCase())
  return text.split(/[.!?;\n…]+/).flatMap((part, sentence) =>
    part
      .split(/[,–—()]| - | (?:but|and|because) | so (?=(?:be|keep|make|please|can|could|use|explain|give|stop|do|no) )/)
      .map((clause) => ({ words: clause.match(/[\p{L}\p{N}]+/gu) ?? [], sentence }))
      .filter((clause) => clause.words.length > 0),
  )
}

/** Whether somebody else is said to have said something: the feedback may be theirs, or about them. */
function isReport(clause: readonly string[]): boolean {
  return clause.some(
    (word, at) =>
      /^(?:said|says|told|asked|wrote|thinks|wants)$/.test(word) &&
      at > 0 &&
      !/^(?:i|you|that|have|never)$/.test(clause[at - 1]!),
  )
}

function isKnown(clause: readonly string[]): boolean {
  return clause.every((word) => common.has(word) || replies.has(word) || mannerWords.has(word))
}

/** The feedback in a clause, where `subject` is what the message spoke of before it. */
function feedbackIn(clause: readonly string[], subject: Subject): readonly Manner[] {
  if (isQuestionOrCondition(clause)) return []
  return mannersIn(clause).filter((manner) => {
    const before = clause.slice(0, manner.from)
    const after = clause.slice(manner.to + 1)
    return (
      (isAboutPersona(before, manner) && endsWell(before, after, manner)) ||
      (isCommandToBe(before, manner) && endsWell(before, after, manner)) ||
      isWayToTell(before, after, manner) ||
      (isKnown(clause) && isAboutAnswer(clause, before, after, manner, subject))
    )
  })
}

function isQuestionOrCondition(clause: readonly string[]): boolean {
  const [first = '', second = ''] = clause.filter((word) => !/^(?:and|but|so|well|then)$/.test(word))
  if (first === 'why') return !/^(?:are|is|do|must)$/.test(second) || !clause.some((word) => /^your?$/.test(word))
  if (first === 'how') return second !== 'about'
  if (first === 'do' || first === 'must')
    return !/^(?:not|you)$/.test(second) || /\byou (?:know|think|like|prefer|want)\b/.test(clause.join(' '))
  return conditions.has(first) || /^(?:is|was|are|were|am|does|did|has|have)$/.test(first)
}

/** Whether the words before a manner say that it is the persona's: "you are", "your last answer about … was". */
function isAboutPersona(before: readonly string[], { kind }: Manner): boolean {
  if (kind === 'plain' || (kind === 'wish' && !before.some((word) => modals.has(word)))) return false
  const at = before.findLastIndex((word) => word === 'you' || word === 'your')
  if (at < 0) return false
  if (before[at] === 'you') return before.length > at + 1 && isKnown(before.slice(at + 1))
  const noun = before.findIndex(
    (word, place) => place > at && place <= at + 4 && (replies.has(word) || writings.has(word)),
  )
  if (noun < 0) return false
  const rest = before.slice(noun + 1)
  const verb = rest.findLastIndex((word) => copulas.has(word) || modals.has(word))
  return isKnown(connectors.has(rest[0]!) || rest[0] === 'of' ? rest.slice(verb < 0 ? 0 : verb) : rest)
}

/** Whether a clause is "be", "could you try to be", "I would like you to sound", before a manner. */
function isCommandToBe(before: readonly string[], { kind }: Manner): boolean {
  const at = before.findLastIndex((word) => !intensifiers.has(word))
  if (kind === 'complaint' || !/^(?:be|being|sound|stay|act)$/.test(before[at] ?? '')) return false
  const isToYou =
    before.includes('you') || !before.some((word) => /^(?:i|we|it|that|this|they|there|them|is|was)$/.test(word))
  return isToYou && isKnown(before)
}

/** Whether nothing after a manner makes it that of something else: "be more formal with me", not "write a more formal letter". */
function endsWell(before: readonly string[], after: readonly string[], { noun }: Manner): boolean {
  if (isKnown(after)) return true
  return !noun && connectors.has(after[0]!) && !before.some((word) => makers.has(word))
}

/** Whether a clause asks for a telling of anything in that manner: "explain recursion more simply". */
function isWayToTell(before: readonly string[], after: readonly string[], manner: Manner): boolean {
  const at = before.findIndex((word) => telling.has(word))
  if (!manner.adverb || at < 0 || !isKnown(after) || !isKnown(before.slice(0, at))) return false
  const told = before.slice(at + 1)
  const isFree =
    manner.adverb === 'any' || !told.some((word) => /^(?:how|why|if|what|when|who|to|that|whether)$/.test(word))
  return (
    isFree &&
    told.length <= 8 &&
    !before.slice(0, at).some((word) => /^(?:i|we|they)$/.test(word) && !before.includes('you'))
  )
}

/** Whether a clause of known words is about the answer. */
function isAboutAnswer(
  clause: readonly string[],
  before: readonly string[],
  after: readonly string[],
  { kind, noun }: Manner,
  subject: Subject,
): boolean {
  const text = before.join(' ')
  if (!noun && /^(?:times?|way|days?|friends?|questions?|examples?|chat|conversation|of)$/.test(after[0] ?? ''))
    return false
  const isStated =
    before.some((word) => copulas.has(word) || word === 'you') && !before.some((word) => modals.has(word))
  if (kind !== 'complaint' && (isStated || before.includes('they'))) return false
  const wishes =
    /\bi (?:(?:would|really|just|do|still|also|usually) )*(?:want|need|prefer|like|love|wish|hope|ask|think|thought|find|found|guess|mean|appreciate|rather have)\b(?! to)|^(?:can|could|let us|shall) we\b/
  const speaksOfSelf = before.some((word) => /^(?:i|we)$/.test(word)) && !before.includes('you')
  if (speaksOfSelf && !wishes.test(text)) return false
  if (
    kind === 'plain' &&
    !noun &&
    !/\b(?:keep|make) (?:it|this|that|things|them|your \w+|the \w+)$/.test(text) &&
    !isPlainStyle(after)
  )
    return false
  const [first = ''] = clause.filter((word) => !/^(?:and|but|so|well|then|just|ok|okay|hey|maybe|do|not)$/.test(word))
  const isAddressed =
    clause.some((word) => /^(?:you|yours?|please|pls)$/.test(word) || replies.has(word)) || commands.has(first)
  if (isAddressed) return true
  return (
    subject === 'answer' ||
    (kind !== 'complaint' && subject === 'question' && !/\b(?:was|is|should|could)\b/.test(text))
  )
}

/** "Short answers", "simple words": a plain adjective is a wish before these. */
function isPlainStyle([next = '']: readonly string[]): boolean {
  return /^(?:answers|replies|responses|explanations|sentences|words|language|paragraphs)$/.test(next)
}

/** The subject of a message after a clause. */
function subjectAfter(clause: readonly string[], subject: Subject): Subject {
  if (clause.some((word) => replies.has(word))) return 'answer'
  const [first = '', second = ''] = clause
  if (isKnown(clause) || clause.length === 1 || (clause.length === 2 && /^(?:hey|hi|dear|ok|thanks)$/.test(first)))
    return subject
  if (first === 'i' && /^(?:am|do|did|can|could|have|stopped|lost)$/.test(second)) return subject
  return /^(?:what|how|why|who|when|where|which|tell|explain|describe|is|are|was|were|does|do|did|can|could)$/.test(
    first,
  )
    ? 'question'
    : 'other'
}
