import { type LexicalEvidence, referenceMemories } from './ranking-lexical.ts'

/** The features of a memory's evidence by which its probability is estimated, in the order of the coefficients. */
export function features(evidence: LexicalEvidence): number[] {
  const { coverage, mass, length, lacksName, isPersonal } = evidence
  return [
    1,
    coverage,
    coverage ** 2,
    Math.log1p(mass),
    Math.log(1 + length / 100),
    lacksName ? 1 : 0,
    isPersonal ? 1 : 0,
  ]
}

/**
 * Coefficients of a logistic model of "this memory answers this query" over `features`. `npm run bench -- memory-quality`
 * fits them anew, prints them, and measures each data set with coefficients that were fitted on the others.
 */
export const coefficients: readonly number[] = [-8.81, 2.08, 1.1, 3.59, -1.12, -2.5, 0.4]

/** The calibration of scores. */
export const calibration = {
  /**
   * The more memories, the more match by chance: subtracted from the log-odds for each factor of e beyond `referenceMemories`, with
   * at most `smallest` added below. Chosen so that as many unanswerable queries stay silent among 2,500 memories as among 240.
   */
  size: 0.6,
  smallest: 0.35,
  /** The log-odds lost by a memory for each factor of e by which its match is below the best one. */
  behind: 16,
  /** The same within the conversation of the best match, since its turns explain each other. */
  behindInConversation: 8,
  /** The share of the difference in own evidence that counts beside it, and the most of it. */
  own: 0.1,
  ownMost: 4,
  /** The same for a memory with equal evidence of its own: by its match, and per unit of log-odds that it lacks. */
  form: 4,
  lack: 3,
  /** The log-odds lost where the query is about the persona or things at large, and names nothing that the memory names. */
  general: 2.5,
  /** The probability where no word matches and vectors only order: when the query speaks of the user, and otherwise. */
  unmatched: { personal: 0.02, other: 0.004 },
} as const

/** The log-odds that a memory answers, from its own words. */
export function logOdds(evidence: LexicalEvidence, chosen: readonly number[] = coefficients): number {
  return features(evidence).reduce((sum, value, at) => sum + value * chosen[at]!, 0)
}

/** Added to log-odds for the number of memories in the scope. */
export function sizePrior(memories: number): number {
  return Math.min(calibration.smallest, -calibration.size * Math.log(Math.max(1, memories) / referenceMemories))
}

/** The logistic function. */
export function probability(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds))
}

/** The inverse of `probability`. */
export function oddsOf(probability: number): number {
  return Math.log(probability / (1 - probability))
}
