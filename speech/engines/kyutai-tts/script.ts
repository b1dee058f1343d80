/** Cuts a text into the words and pauses that the model reads one by one. */
import type { Tokenizer } from '../pocket-tts/tokenizer.ts'
import type { Entry } from './words.ts'

/** Marks whose turn begins; the first speaker's and the other's. */
const speakers = [1, 2] as const

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
): Entry[] {
  const entries: Entry[] = []
  let speaker: number | undefined
  for (const [turn, text] of turns.entries()) {
    const next = speakers[turn % 2]!
    const written = text.replaceAll('\u2019', "'").replaceAll(':', ' ').replace(/[()]/g, '')
    let at = 0
    for (const { 0: mark, 1: seconds, index } of written.matchAll(pauseMark)) {
      addWords(written.slice(at, index), next)
      addPause(Number(seconds))
      at = index + mark.length
    }
    addWords(written.slice(at), next)
  }
  return entries

  function addWords(text: string, next: number): void {
    for (const word of text.split(/\s+/)) {
      const tokens = word === '' ? [] : tokenizer.encode(word)
      if (tokens.length === 0) continue
      const marked = speaker === next ? tokens : [next, ...tokens]
      speaker = next
      entries.push({ text: word, tokens: marked, padding: padding > 0 ? Math.max(0, padding + marked.length - 1) : 0 })
    }
  }

  function addPause(seconds: number): void {
    entries.push({ text: '', tokens: [], padding: Math.round(Math.min(seconds, longestPause) * frameRate) })
  }
}
