import { type Countable, estimateRequestTokens } from '../../chat/chat.ts'
import type { Amounts } from '../cost.ts'

/** Tokens where no provider has counted them: for reservations, and for answers that broke off. */
export type Estimates = ReturnType<typeof createEstimates>

/** The tokens of an answer next to its text: most models end one with 1 to 4 that no text shows (recorded answers). */
const answerFrame = 2

/** The weight of one more answer in a ratio: the first ones count alike, and then old ones fade. */
const leastShare = 0.1

/** The requests of a model's first answers are counted, and then one in so many. */
const firstAnswers = 4
const answersPerRequest = 32

/** Models that are remembered. */
const most = 1000

interface Learned {
  /** Reported output tokens by those of the text. */
  outputFactor: number
  /** Reported input tokens by estimated ones. */
  inputFactor: number
  /** About the 95th percentile of the answers' tokens. */
  longest: number
  answers: number
  /** Answers that the ratios have been learned from. */
  outputs: number
  inputs: number
}

/** The shortest and the longest bound of an answer without one from the request, in tokens. */
const leastBound = 1024

/** Estimates that learn from counted answers in memory, of 1,000 models at the most. */
export function createEstimates() {
  const models = new Map<string, Learned>()
  const learnedOf = (model: string): Learned => {
    const known = models.get(model)
    if (known) return known
    const fresh = { outputFactor: 1, inputFactor: 1, longest: leastBound, answers: 0, outputs: 0, inputs: 0 }
    if (models.size >= most) models.delete(models.keys().next().value!)
    models.set(model, fresh)
    return fresh
  }
  return {
    inputOf: (model: string, request: Countable) =>
      Math.ceil(estimateRequestTokens(request) * (models.get(model)?.inputFactor ?? 1)),
    /** Output tokens of an answer of so many by the count of its text. */
    outputOf: (model: string, counted: number) =>
      counted === 0 ? 0 : Math.round(counted * (models.get(model)?.outputFactor ?? 1)) + answerFrame,
    /** The bound of an answer without `max_tokens`: 1,024, or more where the model's answers were longer. */
    longestOf: (model: string) => Math.ceil(models.get(model)?.longest ?? leastBound),
    /** Learns from an answer that was counted. `request` is read for few answers: to count a long one takes time. */
    learn(model: string, { input, output, reasoning }: Amounts, counted: number, request: () => Countable) {
      const learned = learnedOf(model)
      // Steps of 19 : 1 settle where one answer in twenty is longer.
      const step = Math.max(1, learned.longest * 0.02)
      learned.longest = Math.max(leastBound, learned.longest + (output > learned.longest ? 19 * step : -step))
      // Thoughts that were not delivered say nothing of the ratio.
      if (output > 20 && counted > 0 && !reasoning)
        learned.outputFactor +=
          shareOf(++learned.outputs) * (bounded((output - answerFrame) / counted) - learned.outputFactor)
      if (learned.answers++ % answersPerRequest !== 0 && learned.answers > firstAnswers) return
      const estimated = estimateRequestTokens(request())
      if (estimated > 20 && input > 0)
        learned.inputFactor += shareOf(++learned.inputs) * (bounded(input / estimated) - learned.inputFactor)
    },
  }
}

function shareOf(count: number): number {
  return Math.max(leastShare, 1 / count)
}

/** A ratio that an answer can have: others are of counts that mean something else. */
function bounded(ratio: number): number {
  return Math.min(Math.max(ratio, 0.25), 4)
}
