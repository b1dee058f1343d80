import { readWords } from '../words/read-words.ts'
import { isPinned, type MemoryEntry } from './memory.ts'
import { isSmallTalk } from './small-talk.ts'

const lists = readWords<{ readonly openers: readonly string[]; readonly unmarked: readonly string[] }>('questions')

/** Sources of memories that are turns of conversations. */
const conversations: ReadonlySet<unknown> = new Set(['chat', 'chatgpt', 'claude', 'letta'])

/** Whether a memory only asked: it is context of the turns around it, answers nothing, and supersedes nothing. */
export function isAsked({ content, metadata }: Pick<MemoryEntry, 'content' | 'metadata'>): boolean {
  return conversations.has(metadata['source']) && !isPinned(metadata) && isOnlyQuestions(content)
}

/** Characters of the longest question; a longer text says something as well. */
export const longestQuestion = 2_000

/**
 * Whether a text only asks: each of its sentences is a question, or small talk beside one. A sentence that states something
 * before its question, as "I can't eat nuts, what may I cook?", is no question.
 */
export function isOnlyQuestions(text: string): boolean {
  if (text.length > longestQuestion || !mayAsk(text)) return false
  let asks = false
  for (const sentence of sentencesOf(text)) {
    if (isQuestion(sentence)) asks = true
    else if (!isSmallTalk(sentence)) return false
  }
  return asks
}

/** A cheap test that every question passes: most memories state something and end with a full stop. */
function mayAsk(text: string): boolean {
  return anyMark.test(text) || /[\p{L}\p{M}\p{N}][\s。]*$/u.test(text.slice(-20))
}

const anyMark = /[?？؟‽⁇⁈⁉;\u037e՞¿]/
const endMark = /[?？؟‽⁇⁈⁉]/

function sentencesOf(text: string): readonly string[] {
  const all: string[] = []
  for (const piece of text.split(/(?<=[.!?…؟‽⁇⁈⁉]["'”’»)\]]?)\s+|(?<=[。！？])|\n/u)) {
    const last = all.at(-1)
    if (last !== undefined && abbreviated.test(last)) all[all.length - 1] = `${last} ${piece}`
    else if (piece.trim() !== '') all.push(piece.trim())
  }
  return all
}

const abbreviated = /(?<!\p{L})(?:Dr|Mr|Mrs|Ms|St|Prof|Sr|Sra|Nr|No|Str|Mt|vs|ca|approx|bzw|e\.g|i\.e|z\.B)\.$/u

function isQuestion(sentence: string): boolean {
  const tail = sentence.slice(lastWordEnd(sentence))
  const isMarked =
    endMark.test(tail) || /[՞¿]/.test(sentence) || (/[;\u037e]/.test(tail) && /\p{Script=Greek}/u.test(sentence))
  if (isMarked) return !statesFirst(sentence)
  return !/[.!！…]/.test(tail) && unmarked.some((pattern) => pattern.test(sentence))
}

function lastWordEnd(sentence: string): number {
  const after = sentence.split(/[\p{L}\p{M}\p{N}]/u).at(-1)!
  return sentence.length - after.length
}

/** Whether a clause before the last one states something. */
function statesFirst(sentence: string): boolean {
  const clauses = sentence.split(/[,，、;:：—–]|¿/u).map((clause) => clause.trim())
  return clauses.slice(0, -1).some((clause) => {
    if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(clause))
      return clause.length >= 4 && !unspacedAsking.test(clause)
    const [first = '', ...rest] = clause.toLowerCase().match(/[\p{L}\p{M}\p{N}'’]+/gu) ?? []
    return rest.length >= 2 && !openers.has(first.split(/['’]/)[0]!) && !lostWords.test(clause)
  })
}

/** Phrases that only say why one asks. */
const lostWords =
  /^(?:i (?:have|had) (?:a|another|one)(?: \p{L}+)? question|i (?:forgot|forget|wonder|(?:do not|don['’]?t|can ?not|can['’]?t) (?:know|remember|recall))|ich (?:hab\p{L}* (?:eine|noch eine) frage|weiß nicht|frage mich))/iu

const unspacedAsking =
  /[谁誰哪吗嗎何]|什[么麼]|怎[么麼]|[多几幾]少|どこ|いつ|だれ|なに|どの|どう|如果|的时候|もし|とき$|なら$|たら$/u

/** First words of clauses that ask, or that only say when, where or whom: in the languages of `unmarked`. */
const openers: ReadonlySet<string> = new Set(lists.openers.join(' ').split(' '))

/**
 * How questions without any mark begin or, where the verb is last, end. Only wordings that open no statement: "where I live",
 * "quand j'étais jeune" and "cuando vivía" state something.
 */
const unmarked: readonly RegExp[] = lists.unmarked.map(
  (source) =>
    new RegExp(
      source
        .replaceAll('GREETING', '(?:(?:hi|hey|hello|ok|so|and|hallo|salut|hola|ciao|olá|hoi|cześć|привет|hej)[,!]? )?')
        .replaceAll(String.raw`\b`, String.raw`(?![\p{L}\p{M}])`),
      'iu',
    ),
)
