import type { z } from 'zod'
import { AppError } from '../../errors.ts'
import { type limitsInput, listLimits, removeLimit, resetLimit, setLimit, showLimit } from '../../operations/limits.ts'
import type { Cli } from '../terminal/cli.ts'
import { keyIdOf } from '../terminal/key-id.ts'
import { print, printRemoved } from '../terminal/output.ts'
import { given } from '../terminal/parsers.ts'
import { labelled, table, timeText } from '../terminal/table.ts'

type LimitView = z.output<typeof showLimit.output>
type BudgetView = LimitView['budgets'][number]
type LimitsInput = z.input<typeof limitsInput>
type BudgetInput = NonNullable<LimitsInput['budgets']>[number]

const rates = ['rpm', 'rpd', 'tpm', 'tpd', 'parallel'] as const

/** The options for limits, as commands declare them. */
export interface LimitOptions extends Partial<Readonly<Record<(typeof rates)[number], string>>> {
  readonly budget?: readonly string[]
  readonly timezone?: string
  readonly warn?: string
  readonly hard?: boolean
}

/** Prints the limits of all subjects. */
export async function list(cli: Cli): Promise<void> {
  const { limits } = await cli.ask(listLimits, {})
  await print(cli, { limits }, () =>
    table(
      cli,
      limits,
      [
        ['SUBJECT', ({ subject }) => subject],
        ...rates.map((name) => [name.toUpperCase(), (row: LimitView) => String(row[name] ?? '')] as const),
        ['BUDGETS', ({ budgets }) => budgets.map(budgetText).join(', ')],
      ],
      'no limits; set one: aichat limit set SUBJECT --budget 20/month',
    ),
  )
}

/** Adds limits to those of a subject and prints them. Throws `usage` without an option. */
export async function set(cli: Cli, named: string, options: LimitOptions): Promise<void> {
  const subject = await subjectOf(cli, named)
  if (Object.keys(options).length === 0)
    throw new AppError('usage', 'Nothing to set: add --rpm, --rpd, --tpm, --tpd, --parallel or --budget')
  const limits = limitsIn(options, await existing(cli, subject))
  await print(cli, await cli.ask(setLimit, { subject, ...limits }), viewText)
}

/** Removes the limits of subjects, one by one. */
export async function remove(cli: Cli, subjects: readonly string[]): Promise<void> {
  const removed: { readonly id: string }[] = []
  for (const named of subjects) removed.push(await cli.ask(removeLimit, { subject: await subjectOf(cli, named) }))
  await printRemoved(cli, 'limits', removed)
}

/** Begins the spend of a subject's budgets anew, and prints its limits. */
export async function reset(cli: Cli, named: string): Promise<void> {
  await print(cli, await cli.ask(resetLimit, { subject: await subjectOf(cli, named) }), viewText)
}

/** `12.5 of 20 USD a month`, with the percentage. */
export function budgetText({ spent_usd, amount_usd, period }: BudgetView): string {
  const percent = Number(amount_usd) > 0 ? Math.floor((Number(spent_usd) / Number(amount_usd)) * 100) : 100
  return `${cents(spent_usd)} of ${amount_usd} USD a ${period} (${percent} %)`
}

/** An amount with as many decimals as a reader wants: cents, or more where it is less than one. */
function cents(usd: string): string {
  const amount = Number(usd)
  return amount === 0 || amount >= 0.01 ? amount.toFixed(2) : usd
}

/** The limits that options state, over those that there are. Throws `usage`. */
export function limitsIn(options: LimitOptions, before?: LimitView): LimitsInput {
  const numbers = rates.map((name) => [name, numberOf(name, options[name], before?.[name])])
  const budgets = budgetsOf(options, before?.budgets ?? [])
  return { ...given(Object.fromEntries(numbers)), ...(budgets.length > 0 && { budgets }) }
}

async function existing(cli: Cli, subject: string): Promise<LimitView | undefined> {
  try {
    return await cli.ask(showLimit, { subject })
  } catch (reason) {
    // An unknown user or plugin is told by the write.
    if (reason instanceof AppError && reason.code === 'not_found') return undefined
    throw reason
  }
}

function numberOf(name: string, text: string | undefined, before: number | undefined): number | undefined {
  if (text === undefined) return before
  if (text === 'none') return undefined
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (!(value > 0)) throw new AppError('usage', `Invalid --${name} "${text}": use a whole number from 1 on, or none`)
  return value
}

/** The budgets that were given, else those that there are; the other options change them. */
function budgetsOf(options: LimitOptions, before: readonly BudgetView[]): BudgetInput[] {
  const { budget, timezone, warn, hard } = options
  const changes = given({ timezone, hard, warn: warn === undefined ? undefined : numberOf('warn', warn, undefined) })
  const texts = budget?.filter((text) => text !== 'none')
  const kept = before.map(({ amount_usd, period, timezone, hard, warn }) => ({
    amount_usd,
    period,
    timezone,
    hard,
    warn,
  }))
  const budgets = texts?.map(readBudget) ?? kept
  if (Object.keys(changes).length > 0 && budgets.length === 0)
    throw new AppError('usage', '--timezone, --warn and --hard are of budgets: add --budget')
  return budgets.map((each) => ({ ...each, ...changes }))
}

function readBudget(text: string): BudgetInput {
  const [, amount, period] = /^(\d+(?:\.\d+)?)\/(day|week|month)$/.exec(text.trim()) ?? []
  if (amount === undefined)
    throw new AppError('usage', `Invalid --budget "${text}": use an amount in USD and a period, such as 20/month`)
  return { amount_usd: amount, period: period as BudgetInput['period'] }
}

function viewText(view: LimitView): string {
  return labelled(
    [
      ['subject', view.subject],
      ...rates.map((name) => [name, view[name] === undefined ? undefined : String(view[name])] as const),
      ...view.budgets.map(
        (budget) => ['budget', `${budgetText(budget)}, anew ${timeText(budget.resets_at)} UTC`] as const,
      ),
    ],
    10,
  )
}

/** The subject of an argument, which may name an API key in place of its id: `key:ci`. */
async function subjectOf(cli: Cli, subject: string): Promise<string> {
  return subject.startsWith('key:') ? `key:${await keyIdOf(cli, subject.slice(4))}` : subject
}
