import { type Weights, weights } from '../../../src/personas/memory/ranking-lexical.ts'

/** Where fitting starts: halves and tenths that nothing was measured for. */
const neutral: Weights = {
  k1: 0.9,
  b: 0.4,
  about: 0.5,
  before: [0.5, 0.25, 0.125],
  after: [0.5, 0.25, 0.125],
  asked: 0.25,
  conversation: 0.1,
  rest: 0.5,
  question: 0.1,
  time: 0.1,
  length: 0.1,
  pairs: 0.1,
  // These questions are English and speak of others: these two cannot be chosen on them.
  self: weights.self,
  foreign: weights.foreign,
}

const factors = [0.5, 1, 1.6]

type Measure = (talk: number, chosen: Weights) => number

/**
 * For each conversation, weights chosen on the others: every weight by itself at half, once or 1.6 times its neutral
 * value, whichever serves the others best.
 * @param measure how good the weights are on a conversation, more being better
 */
export function leaveOneOut(talks: number, measure: Measure): Weights[] {
  const names = (Object.keys(weights) as (keyof Weights)[]).filter((name) => name !== 'self' && name !== 'foreign')
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
  const value = all[name]
  return { ...all, [name]: typeof value === 'number' ? value * factor : value.map((each) => each * factor) }
}
