import { AppError } from '../../errors.ts'
import type { Days } from '../days.ts'
import { usdOf } from '../money.ts'
import {
  type LedgerStore,
  type RowQuery,
  type UsageColumn,
  type UsageGroup,
  type UsageSums,
  usageSums,
} from './ledger.ts'

/** The names of users and keys by their ids; those of removed users are not there. */
export interface UsageNames {
  readonly users: ReadonlyMap<string, string>
  readonly keys: ReadonlyMap<string, string>
}

export type FindNames = (ids: {
  readonly users: ReadonlySet<string>
  readonly keys: ReadonlySet<string>
}) => Promise<UsageNames>

/** Sums as reports show them: costs as a decimal text in USD too, and the input tokens from a cache in percent of all. */
export type ToldSums = UsageSums & { readonly cost_usd: string; readonly cached_percent: number }

export type GroupView = ToldSums & UsageGroup & { readonly username?: string; readonly key_name?: string }

/** The days of a query without its own: those since so many days ago. */
const usualDays = 30
const dayMs = 86_400_000

/** The most groups of an answer: some megabytes. */
const mostRows = 20_000

/**
 * The first and last day of a query, each given as a day such as `2026-11-22` or in milliseconds since 1970 UTC. By default
 * the last 30 days. Throws `invalid` when the last is before the first.
 */
export function periodOf(
  days: Days,
  now: number,
  { since, until }: { readonly since?: string | number | undefined; readonly until?: string | number | undefined },
): { readonly since: string; readonly until: string } {
  const dayOf = (given: string | number) => (typeof given === 'number' ? days.dayOf(given) : given)
  const last = dayOf(until ?? now)
  const first = dayOf(since ?? Math.min(now, Date.parse(last)) - usualDays * dayMs)
  if (first > last)
    throw new AppError('invalid', 'Invalid request', { details: [`until: ${last} is before since, ${first}`] })
  return { since: first, until: last }
}

/** Sums by columns, and of all. Throws `invalid` for more than 20,000 groups. */
export async function reportOf(
  store: Pick<LedgerStore, 'sums'>,
  query: RowQuery & { readonly by: readonly UsageColumn[] },
  findNames: FindNames,
) {
  const groups = await store.sums({ ...query, most: mostRows + 1 })
  if (groups.length > mostRows)
    throw new AppError('invalid', 'Invalid request', {
      details: [`by: gives more than ${mostRows} rows; ask for fewer columns or days, or use the export`],
    })
  const names = await findNames({ users: idsIn(groups, 'user'), keys: idsIn(groups, 'key') })
  const rows = query.by.length > 0 ? groups.map((group) => viewOf(group, names)) : []
  return { rows, total: totalOf(groups) }
}

function idsIn(groups: readonly UsageGroup[], column: 'user' | 'key'): ReadonlySet<string> {
  return new Set(groups.map((group) => group[column]).filter((id) => typeof id === 'string'))
}

function viewOf(group: UsageGroup, { users, keys }: UsageNames): GroupView {
  const username = group.user == null ? undefined : users.get(group.user)
  const keyName = group.key == null ? undefined : keys.get(group.key)
  return Object.assign(
    withShares(group),
    username !== undefined && { username },
    keyName !== undefined && { key_name: keyName },
  )
}

function totalOf(groups: readonly UsageSums[]): ToldSums {
  const totals = usageSums.map((name) => [name, groups.reduce((sum, group) => sum + group[name], 0)])
  return withShares(Object.fromEntries(totals) as UsageSums)
}

/** The share has one decimal place, and is 0 where there was no input. */
function withShares<Sums extends UsageSums>(sums: Sums): Sums & ToldSums {
  const { cost_nano, cached_tokens, input_tokens } = sums
  const cached_percent = input_tokens > 0 ? Math.round((1000 * cached_tokens) / input_tokens) / 10 : 0
  return { ...sums, cost_usd: usdOf(cost_nano), cached_percent }
}
