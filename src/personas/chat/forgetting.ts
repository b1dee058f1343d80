import { readWords } from '../words/read-words.ts'

/**
 * Whether the author asks not to keep what they say: "off the record", "don't remember this". Said of others or of the past
 * ("I don't remember this place", "the interview was off the record") it is no such wish: a clause counts that orders it, or
 * that says nothing else. In a long text, such as one with a document, it is read at the beginning and at the end.
 */
export function isOffTheRecord(text: string): boolean {
  const read = text.length <= 2 * readAtEnds ? text : `${text.slice(0, readAtEnds)}\n${text.slice(-readAtEnds)}`
  const said = clausesOf(read)
  const whole = said.join('\n')
  return wishes.some(({ hint, clauses }) => {
    if (!hint.test(whole)) return false
    const pattern = patternOf(hint, clauses)
    return said.some((clause) => pattern.test(clause))
  })
}

/** Characters. */
const readAtEnds = 2_000

/** Clauses in lower case, without the marks between them. */
function clausesOf(text: string): readonly string[] {
  return (
    text
      .normalize('NFC')
      .toLowerCase()
      .replace(/[’‘ʼ`]/g, "'")
      // A comma before such a conjunction parts no wish from what is wished.
      .replace(/, (?=(?:dass|że(?:by\p{L}*)?|чтобы|що|щоб|aby\p{L}*) )/gu, ' ')
      .split(/[.!?;:,…()[\]{}\n–—"“”„«»¡¿。，、！？：；｡]| -+ /)
      .map((clause) => clause.trim().replace(/\s+/g, ' '))
      .filter((clause) => clause !== '')
  )
}

/** What the author asks to forget, as "my birthday" in "Please forget my birthday"; undefined for any other text. */
export function forgetRequest(text: string): string | undefined {
  const sentence = text.trim()
  if (sentence.length > longestRequest || /[.!?。！？]\s*\S/u.test(sentence)) return undefined
  for (const pattern of requests) {
    const target = pattern.exec(sentence)?.groups?.['target']
    if (target !== undefined) return target.replace(/(?<![\s.!?。！？])[\s.!?。！？]+$/u, '')
  }
  return undefined
}

/** Characters of a request to forget: a longer text says something as well. */
const longestRequest = 200

const lists = readWords<{
  /** Words before a wish, in all languages. */
  readonly lead: readonly string[]
  /** Words of courtesy behind a wish, and those with which begins what it is about. */
  readonly courtesy: readonly string[]
  readonly begins: readonly string[]
  /**
   * By language: letters that all wishes not to keep something hold, and how clauses begin that order it, or that say only that it is
   * confidential. `END` stands for the end of a wish.
   */
  readonly offTheRecord: Readonly<Record<string, { readonly hint: string; readonly clauses: readonly string[] }>>
  /** Requests to forget: they begin with their verb, in some languages end with it, and name their target. */
  readonly requests: readonly string[]
}>('forgetting')

const lead = lists.lead.join('|')

/** The end of a wish: that of its clause, also behind a word of courtesy, or the beginning of what it is about. */
const end = `(?=(?: (?:${lists.courtesy.join('|')}))*(?:$| (?:${lists.begins.join('|')})(?!\\S)))`

const wishes = Object.values(lists.offTheRecord).map(({ hint, clauses }) => ({ hint: new RegExp(hint), clauses }))

/** By their hints. */
const compiled = new Map<RegExp, RegExp>()

/** The pattern of one language, made when a text first hints at it: all of them would take a tenth of a second. */
function patternOf(hint: RegExp, clauses: readonly string[]): RegExp {
  const known = compiled.get(hint)
  if (known) return known
  const pattern = new RegExp(`^(?:(?:${lead}) )*(?:${clauses.join('|').replaceAll('END', end)})`)
  compiled.set(hint, pattern)
  return pattern
}

const requests: readonly RegExp[] = lists.requests.map(
  (source) =>
    new RegExp(
      source.replace(
        'PLEASE',
        `(?:(?:please|pls|can you|could you|i want you to|i(?: would|['’]d) like you to|bitte|s['’]il te plaît|por favor|per favore|alsjeblieft|proszę|пожалуйста|будь ласка|snälla),? )?`,
      ),
      'iu',
    ),
)
