/** Sentences and questions over a vocabulary in which, as in speech, a few words are common and most are rare. */
import { randomFrom } from '../parts/figures.ts'

export function createText(seed: number) {
  const random = randomFrom(seed)
  let clock = Date.UTC(2026, 0, 1)
  const words = Array.from({ length: 8000 }, (_, at) => wordOf(at))
  const word = () => words[Math.floor(words.length ** random()) - 1]!
  return {
    sentence: () => Array.from({ length: 8 + Math.floor(random() * 20) }, word).join(' '),
    /** About as many telling words as people use. */
    question: () => `what about ${Array.from({ length: 3 + Math.floor(random() * 4) }, word).join(' ')}`,
    vector(dimension: number): Float32Array {
      const values = Float32Array.from({ length: dimension }, () => random() - 0.5)
      const length = Math.hypot(...values)
      return values.map((value) => value / length)
    },
    /** A minute later each time. */
    time: () => {
      clock += 60_000
      return clock
    },
    now: () => clock,
  }
}

const syllables = 'ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu'.split(' ')

function wordOf(number: number): string {
  let rest = number + 20
  let word = ''
  for (; rest > 0; rest = Math.floor(rest / syllables.length)) word += syllables[rest % syllables.length]
  return word
}
