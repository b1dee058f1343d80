import type { z } from 'zod'
import { AppError } from '../../errors.ts'
import {
  changeLimit,
  checkLimit,
  type limitsInput,
  listLimits,
  removeLimit,
  resetLimit,
  showLimit,
} from '../../operations/operations.ts'
import type { Cli } from '../terminal/cli.ts'
import { fieldsOf } from '../terminal/fields.ts'
import { keyIdOf } from '../terminal/key-id.ts'
import { note, print, printRemoved } from '../terminal/output.ts'
import { given } from '../terminal/parsers.ts'
import { labelled, listing } from '../terminal/table.ts'
import { momentText } from '../terminal/times.ts'

type LimitView = z.output<typeof showLimit.output>
type BudgetView = LimitView['budgets'][number]
type LimitsInput = z.input<typeof limitsInput>
type BudgetInput = NonNullable<LimitsInput['budgets']>[number]

const rates = ['rpm', 'rpd', 'tpm', 'tpd', 'parallel'] as const

/** Prints the limits of all subjects. */
export async function list(cli: Cli): Promise<void> {
  const { limits } = await cli.ask(listLimits, {})
  await print(cli, { limits }, () =>
    listing(cli, limits, 'no limits; set one: aichat limit set SUBJECT --budget 20/month', [
      ['SUBJECT', ({ subject }) => subject],
      ...rates.map((name) => [name.toUpperCase(), (row: LimitView) => String(row[name] ?? '')] as const),
      ['BUDGETS', ({ budgets }) => budgets.map(budgetText).join(', ')],
    ]),
  )
}

/**
 * Changes the limits of a subject that options name, and prints all. Others stay as they are at the moment of the write,
 * so that commands at once lose none. Throws `usage` without an option.
 */
export async function set(cli: Cli, named: string, { budget }: { readonly budget?: readonly string[] }): Promise<void> {
  const subject = await subjectOf(cli, named)
  const { timezone, hard, warn, ...rates } = fieldsOf(cli, changeLimit)
  const ofBudgets = given({ timezone, hard, warn })
  if (budget === undefined && Object.keys({ ...rates, ...ofBudgets }).length === 0)
    throw new AppError('usage', 'Nothing to set: add --rpm, --rpd, --tpm, --tpd, --parallel or --budget')
  const budgets = budgetsOf(cli, budget)
  if (!budgets && Object.keys(ofBudgets).length > 0 && !(await hasBudgets(cli, subject))) throw needsBudget()
  if (budgets?.length) await warnOfPrices(cli, subject)
  const change = { ...rates, ...(budgets ? { budgets } : ofBudgets) }
  await print(cli, await cli.ask(changeLimit, { ...change, subject }), (view) => viewText(cli, view))
}

/** Says which models a new budget stops. */
async function warnOfPrices(cli: Cli, subject: string): Promise<void> {
  const { limits, unpriced } = await cli.ask(checkLimit, { subject })
  if (unpriced.length === 0 || limits?.budgets.length) return
  const [shown, more] = [unpriced.slice(0, mostNamed).join(', '), unpriced.length - mostNamed]
  note(
    cli,
    `aichat: the price of ${shown}${more > 0 ? ` and ${more} more` : ''} is not known: a budget refuses their requests; set it: aichat prices set`,
  )
}

/** Models without a price that are named. */
const mostNamed = 8

/** Removes the limits of subjects, one by one. */
export async function remove(cli: Cli, subjects: readonly string[]): Promise<void> {
  const removed: { readonly id: string }[] = []
  for (const named of subjects) removed.push(await cli.ask(removeLimit, { subject: await subjectOf(cli, named) }))
  await printRemoved(cli, 'limits', removed)
}

/** Begins the spend of a subject's budgets anew, and prints its limits. */
export async function reset(cli: Cli, named: string): Promise<void> {
  await print(cli, await cli.ask(resetLimit, { subject: await subjectOf(cli, named) }), (view) => viewText(cli, view))
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

/** The limits of a new subject, with its budgets; undefined where options state none. Throws `usage`. */
export function withBudgets(
  cli: Cli,
  rates: LimitsInput | undefined,
  texts: readonly string[] | undefined,
): LimitsInput | undefined {
  const { timezone, hard, warn } = fieldsOf(cli, changeLimit)
  const budgets = budgetsOf(cli, texts)
  if (!budgets?.length && Object.keys(given({ timezone, hard, warn })).length > 0) throw needsBudget()
  return budgets?.length ? { ...rates, budgets } : rates
}

/** The budgets of options, each with the fields that are for all of them; undefined where none is stated. Throws `usage`. */
function budgetsOf(cli: Cli, texts: readonly string[] | undefined): BudgetInput[] | undefined {
  const { timezone, hard, warn } = fieldsOf(cli, changeLimit)
  const shared = given({ timezone, hard, warn })
  const budgets = texts?.filter((text) => text !== 'none').map((text) => ({ ...readBudget(text), ...shared }))
  if (budgets?.length === 0 && Object.keys(shared).length > 0) throw needsBudget()
  return budgets
}

function needsBudget(): AppError {
  return new AppError('usage', '--timezone, --warn and --hard are of budgets: add --budget')
}

async function hasBudgets(cli: Cli, subject: string): Promise<boolean> {
  try {
    return (await cli.ask(showLimit, { subject })).budgets.length > 0
  } catch (reason) {
    if (reason instanceof AppError && reason.code === 'not_found') return false
    throw reason
  }
}

function readBudget(text: string): BudgetInput {
  const [, amount, period] = /^(\d+(?:\.\d+)?)\/(day|week|month)$/.exec(text.trim()) ?? []
  if (amount === undefined)
    throw new AppError('usage', `Invalid --budget "${text}": use an amount in USD and a period, such as 20/month`)
  return { amount_usd: amount, period: period as BudgetInput['period'] }
}

function viewText(cli: Cli, view: LimitView): string {
  return labelled(
    [
      ['subject', view.subject],
      ...rates.map((name) => [name, view[name] === undefined ? undefined : String(view[name])] as const),
      ['limits', isUnlimited(view) ? 'none' : undefined],
      ...view.budgets.map(
        (budget) => ['budget', `${budgetText(budget)}, anew ${momentText(cli, budget.resets_at)}`] as const,
      ),
    ],
    10,
  )
}

function isUnlimited(view: LimitView): boolean {
  return view.budgets.length === 0 && rates.every((name) => view[name] === undefined)
}

/** The subject of an argument, which may name an API key in place of its id: `key:ci`. */
async function subjectOf(cli: Cli, subject: string): Promise<string> {
  return subject.startsWith('key:') ? `key:${await keyIdOf(cli, subject.slice(4))}` : subject
}
