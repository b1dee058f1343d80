import { createRecent } from './shared/recent.ts'

/**
 * The seconds that a voice takes for its texts, learned from its earlier chunks, to notice a clause left out or said
 * twice.
 */
export interface Pace {
  /** Whether enough was heard to judge by. */
  readonly isKnown: boolean
  /** Takes note of a text and the seconds that it took. */
  learn(text: string, seconds: number): void
  /** Whether the seconds are far from the expected length of the text; false while too little is known. */
  isFarOff(text: string, seconds: number): boolean
  /** The distance from the promised length, 0 where it is kept: for the choice between two tries. */
  distance(text: string, seconds: number): number
}

/** Texts that are heard before one is judged. */
const enough = 4
/** The latest texts by which a voice is known. */
const remembered = 32
/** A text of fewer letters is no measure for others: its silence before and after weighs too much. */
const leastSize = 40
/** Letters from which a text is judged in full; the length of a shorter one varies more. */
const fullSize = 120
/** Tolerances: the share that may be missing or in excess, at least and at most. */
const [leastMissing, mostMissing] = [0.25, 0.6]
const [leastExcess, mostExcess] = [0.4, 1.5]
/** Distances from the median within which nearly all usual texts lie, in median distances. */
const spreadFactor = 5

/** The pace of one voice. The memory is bounded, and a median is moved by no single failure. */
export function createPace(): Pace {
  const rates: number[] = []
  let usual = { rate: 0, spread: 0 }
  return {
    get isKnown() {
      return rates.length >= enough
    },
    learn(text, seconds) {
      const size = spokenSize(text)
      if (size < leastSize || !(seconds > 0)) return
      rates.push(seconds / size)
      if (rates.length > remembered) rates.shift()
      const rate = median(rates)
      usual = { rate, spread: median(rates.map((one) => Math.abs(one - rate))) / rate }
    },
    isFarOff(text, seconds) {
      if (rates.length < enough) return false
      const size = Math.max(1, spokenSize(text))
      const ratio = seconds / (usual.rate * size)
      const widen = Math.sqrt(Math.max(1, fullSize / size))
      const missing = Math.min(mostMissing, Math.max(leastMissing, spreadFactor * usual.spread) * widen)
      const excess = Math.min(mostExcess, Math.max(leastExcess, spreadFactor * usual.spread) * widen)
      // Half a second of silence around a word or two is no failure.
      return ratio < 1 - missing || (ratio > 1 + excess && seconds > usual.rate * size + 0.5)
    },
    distance(text, seconds) {
      if (rates.length === 0 || !(seconds > 0)) return Number.POSITIVE_INFINITY
      return Math.abs(Math.log(seconds / (usual.rate * Math.max(1, spokenSize(text)))))
    },
  }
}

/** Voices with a remembered pace. */
const keptVoices = 64

/** The paces of the voices that spoke last, by their keys. */
export function createPaces(): (voice: string) => Pace {
  const paces = createRecent<Pace>(keptVoices)
  return (voice) => {
    const pace = paces.get(voice) ?? createPace()
    paces.set(voice, pace)
    return pace
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Digits are spoken as words, and signs of these scripts as whole syllables. */
const digitSize = 4
const signSize = 3
/** A breath between clauses or sentences. */
const breathSize = 4

/** How much there is to speak in a text, in letters of an alphabet: its time is near to proportional to this. */
function spokenSize(text: string): number {
  let size = 0
  for (const [sign] of text.matchAll(
    /[\p{L}\p{N}]|(?<![,.;:!?…，。、；：！？])[,.;:!?…，。、；：！？]+(?=\s|$)|[，。、；：！？]/gu,
  )) {
    if (/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u.test(sign)) size += signSize
    else if (/\p{N}/u.test(sign)) size += digitSize
    else size += /\p{L}/u.test(sign) ? 1 : breathSize
  }
  return size
}
