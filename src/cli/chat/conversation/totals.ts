import { counted } from '../../../formats/formats.ts'
import { showSession } from '../../../operations/operations.ts'
import { usdOf } from '../../../usage/usage.ts'
import type { Cli } from '../../terminal/cli.ts'
import { quoted } from '../../terminal/failure.ts'
import { note } from '../../terminal/output.ts'

/** Tokens of requests and of answers; `thought` of the latter were thinking. */
export interface Tokens {
  readonly asked: number
  readonly answered: number
  readonly thought: number
}

/** The consumption of the answers since the beginning. */
export interface Totals {
  answers: number
  /** Tokens of requests and of answers; undefined while no provider reported any. */
  asked: number | undefined
  answered: number | undefined
  /** Tokens of the answers that were thinking. */
  thought: number
  /** Nano-USD. */
  cost: number
  /** Answers without a known cost. */
  unpriced: number
  /** The plugin, or the local runner, and the model of the last answer. */
  by: string | undefined
}

interface AnswerCounts {
  readonly tokens: Tokens | undefined
  readonly cost: number | undefined
  readonly by: string | undefined
}

export function noTotals(): Totals {
  return { answers: 0, asked: undefined, answered: undefined, thought: 0, cost: 0, unpriced: 0, by: undefined }
}

/** Adds an answer to the totals; one without a cost counts as unpriced. */
export function addTo(totals: Totals, { tokens, cost, by }: AnswerCounts): void {
  totals.answers += 1
  if (tokens) {
    totals.asked = (totals.asked ?? 0) + tokens.asked
    totals.answered = (totals.answered ?? 0) + tokens.answered
    totals.thought += tokens.thought
  }
  totals.cost += cost ?? 0
  if (cost === undefined) totals.unpriced += 1
  totals.by = by ?? totals.by
}

/** The longest that the end of a conversation waits for its name: milliseconds. */
const nameMs = 2_000

/**
 * Says at the end of a conversation what it used and how to go on with it: `aichat: Trip · 3 turns · 1,240 tokens · $0.0012
 * · go on: aichat chat -s Trip`. Says nothing where nothing was answered; `session` is undefined where it is not kept.
 */
export async function sayGoodbye(cli: Cli, totals: Totals, session: string | undefined): Promise<void> {
  const { answers, asked, answered, cost } = totals
  if (answers === 0) return
  const found =
    session &&
    (await cli.ask(showSession, { id: session, brief: true }, AbortSignal.timeout(nameMs)).catch(() => undefined))
  const tokens = (asked ?? 0) + (answered ?? 0)
  const parts = [
    found ? found.name : 'not saved',
    counted(answers, 'turn'),
    ...(tokens > 0 ? [`${tokens.toLocaleString('en')} tokens`] : []),
    ...(cost > 0 ? [`$${usdOf(cost)}`] : []),
    ...(found ? [`go on: aichat chat -s ${/^[\w.,:@+-]+$/.test(found.name) ? found.name : quoted(found.name)}`] : []),
  ]
  note(cli, `aichat: ${parts.join(' · ')}`)
}
