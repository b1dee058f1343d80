/** The consumption of the answers since the beginning. */
export interface Totals {
  answers: number
  /** Tokens of requests and of answers; undefined while no provider reported any. */
  asked: number | undefined
  answered: number | undefined
  /** Nano-USD. */
  cost: number
  /** Answers without a known cost. */
  unpriced: number
  /** The plugin, or the local runner, and the model of the last answer. */
  by: string | undefined
}

/** An answer's report about itself. */
interface AnswerCounts {
  readonly tokens: { readonly asked: number; readonly answered: number } | undefined
  readonly cost: number | undefined
  readonly by: string | undefined
}

export function noTotals(): Totals {
  return { answers: 0, asked: undefined, answered: undefined, cost: 0, unpriced: 0, by: undefined }
}

/** Adds an answer to the totals; one without a cost counts as unpriced. */
export function addTo(totals: Totals, { tokens, cost, by }: AnswerCounts): void {
  totals.answers += 1
  if (tokens) {
    totals.asked = (totals.asked ?? 0) + tokens.asked
    totals.answered = (totals.answered ?? 0) + tokens.answered
  }
  totals.cost += cost ?? 0
  if (cost === undefined) totals.unpriced += 1
  totals.by = by ?? totals.by
}
