import { readWords } from '../words/read-words.ts'
import type { Observation } from './adaptations.ts'
import type { Signal } from './state.ts'

/** Characters. A longer message is about its subject, and may quote such phrases. */
const longestFeedback = 240

const lists = readWords<{
  /**
   * The words of each trait: adjectives for much and for little of it, with their comparatives behind a slash, and other phrases that
   * ask for more or for less.
   */
  readonly traits: Readonly<Record<string, Readonly<Record<'much' | 'little' | 'more' | 'less', string>>>>
  /** Words that say nothing of a subject. */
  readonly plain: readonly string[]
}>('feedback')

const refusal =
  'no(?: more)?|without|fewer|less|zero|too many|(?:skip|drop|avoid|lose|cut)(?: the| your)?|(?:stop|not)(?: \\w+)?(?: so many| the)?|enough with the'

const manners = Object.entries(lists.traits).flatMap(([trait, { much, little, more, less }]) => [
  { trait, target: -1, pattern: wishFor(little, much, less) },
  { trait, target: 1, pattern: wishFor(much, little, more) },
])

/** The pattern of a wish for what `wanted` says: "more WANTED", "too OTHER", "not WANTED enough", "be WANTED", … */
function wishFor(wanted: string, other: string, phrases: string): RegExp {
  const [plain = '', comparative = ''] = wanted.split('/').map((list) => list.replaceAll(' ', '|'))
  const [excess = ''] = other.split('/').map((list) => list.replaceAll(' ', '|'))
  const wishes = [
    phrases.replaceAll('NO', refusal),
    comparative && `(?<!(?:no|any|the|how) )(?:${comparative})`,
    plain && `more (?:${plain})|(?<!not )(?:${plain})(?= (?:answers?|replies|sentences|words|language|version)\\b)`,
    plain &&
      `not (?:${plain}) enough|(?<=\\b(?:be|answer|reply|keep (?:it|this|your \\w+)) )(?:${plain})(?! (?:enough|to\\b))`,
    excess &&
      `(?:not|stop being|less)(?: be| have to be)?(?: so| too| that)? (?:${excess})(?! enough)|(?:too|so) (?:${excess})`,
  ]
  return new RegExp(`\\b(?:${wishes.filter(Boolean).join('|') || '(?!)'})\\b`)
}

const replies = `(?:answer|repl(?:y|ie)|response|explanation|explaining|message|text|summar(?:y|ie)|description|sentence|tone|style|wording)s?`

/** Words for an answer of the persona; "the text on the sign" is another text. */
const answerNamed = new RegExp(
  `\\b(?:your (?:\\w+ )?${replies}\\b|(?:the|this|that|these) (?:\\w+ )?${replies}\\b(?! (?:on|in|from|by)\\b))`,
)

/** Words that say nothing of a subject: a clause of these and a wish alone is about the answer. */
const plainWords = new Set(lists.plain.join(' ').split(' '))

/**
 * Reads feedback on the manner of an answer from the English user message after it; undefined for none. Only words about the
 * persona's answers count: "Your answer was too simple", "be shorter", "too long"; not "the coffee was too simple". Such
 * phrases are weak evidence: the persona's settings and the rules of adaptation decide whether an observation moves anything.
 */
export function noticeFeedback(message: string): Observation | undefined {
  if (message.length > longestFeedback) return undefined
  const signals: Signal[] = []
  let isOnAnswer = true
  let namesAnswer = false
  for (const clause of clausesOf(message)) {
    namesAnswer ||= answerNamed.test(clause)
    let isPlain = true
    for (const { trait, target, pattern } of manners) {
      const found = pattern.exec(clause)
      if (!found || signals.some((signal) => 'trait' in signal && signal.trait === trait)) continue
      const before = clause.slice(0, found.index).trim()
      const after = clause.slice(found.index + found[0].length).trim()
      isPlain = [before, after].every((text) => isOfPlainWords(text, namesAnswer))
      const isMeant =
        isOnAnswer ||
        namesAnswer ||
        /^(?:please |just |but )*(?:be|keep|make|use|give|write|answer|explain|stop|no|shorter|simpler)\b/.test(clause)
      if (isAboutAnswer(before, found[0], after, isPlain && isMeant)) signals.push({ trait, target })
    }
    isOnAnswer &&= isPlain && isOfPlainWords(clause, namesAnswer)
  }
  return signals.length === 0 ? undefined : { trigger_event: 'user_correction', signals }
}

function clausesOf(message: string): readonly string[] {
  return (
    message
      .toLowerCase()
      .replace(/[’‘]/g, "'")
      .replace(/"[^"]*"|“[^“”]*”|«[^«»]*»/g, 'quotation')
      // What somebody else says.
      .replace(
        /(?<!\bi )\b(?:says?|said|tells? \w+|told \w+|writes?|wrote|reads|asks?|asked|advises?)(?: \w+)?: [^\n.!?]*/g,
        'quotation',
      )
      .replace(/\bcan't\b/g, 'can not')
      .replace(/n't\b/g, ' not')
      .replace(
        /'(re|s|d|m|ll)\b/g,
        (_, end: string) => ({ re: ' are', s: ' is', d: ' would', m: ' am' })[end] ?? ' will',
      )
      .replace(/\bif (?:possible|you (?:like|can|want))\b/g, 'please')
      .split(/[.!?;:\n…,–—()]+| - | (?:but|and|because) | so (?=(?:be|keep|make|please|use|explain|give|stop) )/)
      .map((clause) => clause.trim())
      .filter(Boolean)
  )
}

function isOfPlainWords(text: string, namesAnswer: boolean): boolean {
  return (text.match(/[\p{L}\p{N}]+/gu) ?? []).every((word) => plainWords.has(word) || (namesAnswer && word === 'they'))
}

/** Whether a wish is about the answer, given the clause around it and whether that is made of plain words alone. */
function isAboutAnswer(before: string, wish: string, after: string, isPlain: boolean): boolean {
  if (/^(?:if|when|is|was|are|were|does|did|how|what|which)\b/.test(before) && !/\byou\b/.test(before)) return false
  if (new RegExp(`\\byour (?:\\w+ )?${replies}\\b`).test(before)) return true
  const isOfSpeaker = /\b(?:i|we)\b/.test(before) && !/\byou\b/.test(before)
  const goesOn = /^(?:$|about|with|to|for|on|in|at|when|than)\b/.test(after)
  const lead = isOfPlainWords(before, false)
  if (
    lead &&
    !isOfSpeaker &&
    goesOn &&
    /(?:^|\b(?:be|being|sound|stay|try to be|are|were))$/.test(before) &&
    (before || /^be /.test(wish))
  )
    return true
  if (
    /\b(?:explain|tell|describe|say|put)\b/.test(before) &&
    /^(?:in |like |eli5|\w+ly$|more \w+ly$|simpler)/.test(wish)
  )
    return true
  if (!isPlain) return false
  return (
    !isOfSpeaker ||
    /\bi (?:(?:really|just|do|would|also) )*(?:want|need|prefer|like|love|wish|hope|find|feel|guess|think)\b(?! to)/.test(
      before,
    )
  )
}
