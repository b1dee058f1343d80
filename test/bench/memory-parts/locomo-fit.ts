import { type Weights, weights } from '../../../src/personas/memory/ranking-lexical.ts'

/** Where fitting starts: halves and tenths that nobody measured. */
const neutral: Weights = {
  k1: 0.9,
  b: 0.4,
  about: 0.5,
  near: [0.5, 0.25, 0.125],
  // These conversations are all named: this one cannot be chosen on them.
  unnamed: weights.unnamed,
  asked: 0.25,
  conversation: 0.1,
  rest: 0.5,
  question: 0.1,
  time: 0.1,
  length: 0.1,
}

const factors = [0.5, 1, 1.6]

type Measure = (talk: number, chosen: Weights) => number

/**
 * For each conversation, weights chosen on the others: every weight by itself at half, once or 1.6 times its neutral
 * value, whichever serves the others best.
 * @param measure how good the weights are on a conversation, more being better
 */
export function leaveOneOut(talks: number, measure: Measure): Weights[] {
  const names = (Object.keys(weights) as (keyof Weights)[]).filter((name) => name !== 'unnamed')
  const tried = names.map((name) =>
    factors.map((factor) => {
      const chosen = scaled(neutral, name, factor)
      return { factor, scores: Array.from({ length: talks }, (_, talk) => measure(talk, chosen)) }
    }),
  )
  return Array.from({ length: talks }, (_, left) =>
    names.reduce((chosen, name, at) => {
      const others = (scores: readonly number[]) =>
        scores.reduce((sum, score, talk) => sum + (talk === left ? 0 : score), 0)
      const best = tried[at]!.reduce((a, b) => (others(b.scores) > others(a.scores) ? b : a))
      return scaled(chosen, name, best.factor)
    }, neutral),
  )
}

function scaled(all: Weights, name: keyof Weights, factor: number): Weights {
  if (name === 'near') {
    const [one, two, three] = all.near
    return { ...all, near: [one * factor, two * factor, three * factor] }
  }
  return { ...all, [name]: all[name] * factor }
}
