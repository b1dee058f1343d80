/** Cuts a text into the words and pauses that the model reads one by one. */
import type { Tokenizer } from '../neural/sentence-pieces.ts'
import type { Entry } from './words.ts'

/** Marks the speaker of a turn: the first one, and the other. */
const speakers = [1, 2] as const

/** Up to here tokens steer the model: no spelling of a text becomes one of them. */
const lastSpecial = 3

/** A mark such as `<break time="1.5s"/>`. */
const pauseMark = /<break\s+time="(\d+(?:\.\d*)?)s"\s*\/?>/g

/** Pauses are bounded: seconds. */
const longestPause = 10

export interface ScriptSettings {
  readonly frameRate: number
  /** Steps between two words beside those that their tokens take; 1 is the authors'. */
  readonly padding?: number
}

/** The entries of turns that two speakers take, the first one beginning. */
export function readScript(
  turns: readonly string[],
  tokenizer: Pick<Tokenizer, 'encode'>,
  { frameRate, padding = 1 }: ScriptSettings,
) {
  const entries: Entry[] = []
  /** The word of the text that begins with each entry, as it was written: '' where that continues, undefined for a pause. */
  const written: (string | undefined)[] = []
  let speaker: number | undefined
  for (const [turn, text] of turns.entries()) {
    const next = speakers[turn % 2]!
    let at = 0
    for (const { 0: mark, 1: seconds, index } of text.matchAll(pauseMark)) {
      addWords(text.slice(at, index), next)
      addPause(Number(seconds))
      at = index + mark.length
    }
    addWords(text.slice(at), next)
  }
  return { entries, written }

  function addWords(text: string, next: number): void {
    for (const word of text.split(/\s+/)) {
      let begins = true
      for (const part of plain(word).split(/\s+/)) {
        const tokens = part === '' ? [] : tokenizer.encode(part).filter((token) => token > lastSpecial)
        if (tokens.length === 0) continue
        const marked = speaker === next ? tokens : [next, ...tokens]
        speaker = next
        const least = padding > 0 ? Math.max(0, padding + marked.length - 1) : 0
        entries.push({ text: part, tokens: marked, padding: least })
        written.push(begins ? word : '')
        begins = false
      }
    }
  }

  function addPause(seconds: number): void {
    entries.push({ text: '', tokens: [], padding: Math.round(Math.min(seconds, longestPause) * frameRate) })
    written.push(undefined)
  }
}

/** Marks that the model was not trained on are spaces or nothing. */
function plain(word: string): string {
  return word.replaceAll('\u2019', "'").replaceAll(':', ' ').replace(/[()]/g, '')
}
