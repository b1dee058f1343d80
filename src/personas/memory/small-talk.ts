import { readWords } from '../words/read-words.ts'
import { isFunctionWord, plain, unified, wordsOf } from './ranking-terms.ts'

const lists = readWords<{
  /** By language, in lines. */
  readonly words: Readonly<Record<string, readonly string[]>>
  /** Patterns of Chinese, Japanese and Korean. */
  readonly unspaced: readonly string[]
}>('small-talk')

/** The longest small talk: words. A longer text counts as a statement, also with words of small talk alone. */
const mostWords = 10

/**
 * Whether a text is nothing but thanks, greetings, assent, laughter, or a wish about the last answer ("shorter please"):
 * each of its words is one of those lists, or an English function word.
 */
export function isSmallTalk(text: string): boolean {
  const letters = unified(text).replace(/[^\p{L}\p{M}\p{N}]+/gu, '')
  if (letters === '') return true
  if (unspacedTalk.test(letters.toLowerCase())) return true
  if (thanksForTheAnswer.test(text.trim()) && text.length <= 120 && !firstPerson.test(text)) return true
  const words = wordsOf(text).map(plain)
  return (
    words.length <= mostWords && words.every((word) => talk.has(word) || isFunctionWord(word) || laughter.test(word))
  )
}

/** Laughter of any length, in the spellings of several languages. */
const laughter =
  /^(?:(?:ha|he|hi|ja|je|ah|eh|ха|хе)+h?|a*(?:ha){2,}|l+o+l+|lmf?ao+|rofl|xd+|k{3,}|(?:rs){2,}|mdr+|ptdr|[ㅋㅎᄏᄒ]+|w{2,}|h?m+|u+h+|o+h+|a+h+|wo+w+)$/u

/** "Thanks, that worked …": the thanks, and their reason. */
const thanksForTheAnswer =
  /^(?:thanks?(?: you| a lot| so much)*|thx|cheers|great|perfect|danke(?: dir| schön)?|merci|gracias|grazie|obrigad[oa]|bedankt|dzięki|спасибо|tack)[,.!\s]+(?:that|it|this|das|es|ça|cela|eso|esto|questo|isso|dat|to|это|det)(?:['’]s| is| was| has| ist| hat| est| a| è| ha)?\s*(?:now\s+)?(?:work|help|did|fix|solv|perfect|great|exactly|what|geklappt|geholfen|funktion|marche|fonctionn|aid|funcion|sirv|ayud|hilft|passt|werkt|helpt|działa|помог|работа|hjälp|fungerar)/iu

const firstPerson =
  /(?:^|[^\p{L}])(?:i|i['’]m|my|me|we|our|ich|mein\p{L}*|je|mon|ma|mes|yo|mi|mis|io|mio|mia|eu|meu|minha|ik|mijn|я|мой|моя|мы)(?![\p{L}])/iu

/**
 * Chinese, Japanese and Korean: such texts are matched as a whole, without their spaces and punctuation. The first that fits
 * at a place is taken for good, so a beginning of another stands behind it: with a choice, a long laugh would take for ever.
 */
const unspacedTalk = new RegExp(`^(?:(?=(${lists.unspaced.join('|')}))\\1)+$`, 'u')

/** Words that carry no fact. */
const talk: ReadonlySet<string> = new Set(
  Object.values(lists.words).flatMap((lines) =>
    lines.flatMap((line) => line.split(' ').map((word) => plain(word.toLowerCase()))),
  ),
)
