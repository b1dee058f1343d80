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

/** The range of an original word's spelled words; empty for one that is not spoken. */
interface SpelledRange {
  readonly from: number
  readonly to: number
}

/**
 * Matches the words of a text with those of a spelling of it, as `$5` with `five dollars`: equal words are one another's, and
 * those between equal ones are shared out in their order. Together the ranges hold every spelled word, where there is an original.
 */
function matchWords(originals: readonly string[], spelled: readonly string[]): readonly SpelledRange[] {
  const ranges: { from: number; to: number }[] = []
  let from = 0
  let at = 0
  for (const [original, match] of [...equalPairs(originals, spelled), [originals.length, spelled.length] as const]) {
    share(ranges, original - from, at, match)
    // A spelled word behind the equal one, as the currency behind its sum, is shared with the words that follow.
    if (original < originals.length) ranges.push({ from: match, to: match + 1 })
    from = original + 1
    at = match + 1
  }
  const first = ranges[0]
  if (first) first.from = 0
  return ranges
}

/** Gives the spelled words `from` to `to` to so many originals, or to the original before where there is none. */
function share(ranges: { from: number; to: number }[], count: number, from: number, to: number): void {
  const words = Math.max(0, to - from)
  const last = ranges.at(-1)
  if (count === 0 && last) last.to = Math.max(last.to, to)
  for (let index = 0; index < count; index++)
    ranges.push({
      from: from + Math.floor((index * words) / count),
      to: from + Math.floor(((index + 1) * words) / count),
    })
}

/** The longest common subsequence of two word lists, as pairs of their places. */
function equalPairs(left: readonly string[], right: readonly string[]): readonly (readonly [number, number])[] {
  const keys = (words: readonly string[]) =>
    words.map((word) => word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '') || word)
  const [one, other] = [keys(left), keys(right)]
  const width = other.length + 1
  const lengths = new Uint16Array((one.length + 1) * width)
  for (let row = one.length - 1; row >= 0; row--)
    for (let column = other.length - 1; column >= 0; column--)
      lengths[row * width + column] =
        one[row] === other[column]
          ? lengths[(row + 1) * width + column + 1]! + 1
          : Math.max(lengths[(row + 1) * width + column]!, lengths[row * width + column + 1]!)
  const pairs: (readonly [number, number])[] = []
  for (let row = 0, column = 0; row < one.length && column < other.length; ) {
    if (one[row] === other[column]) pairs.push([row++, column++])
    else if (lengths[(row + 1) * width + column]! >= lengths[row * width + column + 1]!) row++
    else column++
  }
  return pairs
}
