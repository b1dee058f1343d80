import { matchWords } from '../../text/word-match.ts'
import type { WordTime } from '../engine.ts'
import type { TokenTime } from './token-times.ts'

/**
 * Tells the words of a text as they were written, from the times of the plain words that flite speaks for them, piece by
 * piece. Call the result with each piece's times and the second at which the piece begins. A silent word is told with the one before.
 */
export function createWordTeller(
  text: string,
  pieces: readonly { readonly text: string }[],
  tell: (words: readonly WordTime[]) => void,
): (times: readonly TokenTime[], begin: number) => void {
  const originals = wordsOf(text)
  const ranges = matchWords(
    originals,
    pieces.flatMap((piece) => wordsOf(piece.text)),
  )
  const heard: TokenTime[] = []
  let next = 0
  return (times, begin) => {
    for (const time of times) heard.push(time && { start: begin + time.start, end: begin + time.end })
    const words: { text: string; start: number; end: number }[] = []
    for (; next < originals.length && ranges[next]!.to <= heard.length; next++) {
      const own = heard.slice(ranges[next]!.from, ranges[next]!.to).filter((time) => time !== undefined)
      const last = words.at(-1)
      if (own.length > 0) words.push({ text: originals[next]!, start: own[0]!.start, end: own.at(-1)!.end })
      else if (last) last.text += ` ${originals[next]!}`
    }
    if (words.length > 0) tell(words)
  }
}

function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/).filter(Boolean)
}
