import { z } from 'zod'
import { AppError } from '../errors.ts'
import {
  costSources,
  exportedRows,
  type FindNames,
  type LedgerRow,
  minuteSums,
  outcomes,
  periodOf,
  purposes,
  type RowQuery,
  reportOf,
  usageColumns,
  usdOf,
} from '../usage/usage.ts'
import { requireAdmin } from './access.ts'
import { day } from './day-input.ts'
import { page } from './input.ts'
import { type Call, Download, defineOperation } from './operation.ts'

const name = z.string().min(1, 'must not be empty').max(300)

/** The fields that choose attempts. */
const chosen = {
  since: z.exactOptional(day),
  until: z.exactOptional(day),
  key: z.exactOptional(name),
  /** The id of a user; by default the caller, and all users for an administrator. */
  user: z.exactOptional(name),
  model: z.exactOptional(name),
  plugin: z.exactOptional(name),
}

/** Some of these words, with commas between. */
const listOf = <T extends string>(words: readonly T[]) =>
  z
    .string()
    .max(100)
    .transform((text, context) => {
      const given = [...new Set(text.split(',').map((word) => word.trim()))].filter((word) => word !== '')
      const found = given.filter((word): word is T => (words as readonly string[]).includes(word))
      if (found.length === given.length) return found
      context.addIssue(`must be of ${words.join(', ')}, with commas between`)
      return z.NEVER
    })

const sums = {
  requests: z.int(),
  /** Those that failed before content. */
  failed: z.int(),
  /** All tokens of requests, cached and written ones included. */
  input_tokens: z.int(),
  cached_tokens: z.int(),
  cache_write_tokens: z.int(),
  /** All tokens of answers, reasoning included. */
  output_tokens: z.int(),
  reasoning_tokens: z.int(),
  /** Characters that were spoken. */
  characters: z.int(),
  /** Decimal, in USD, of all attempts with a known price. */
  cost_usd: z.string(),
  /** The same in 10^-9 USD. */
  cost_nano: z.number(),
  /** `cached_tokens` of `input_tokens` in percent, to one decimal place. */
  cached_percent: z.number(),
  /** Attempts without a known price. */
  unpriced: z.int(),
  /** Attempts without token counts of the provider: they were counted here. */
  estimated: z.int(),
}

const total = z.object(sums)

/** Sums, after the columns that were asked for. `key` is null for logins, `plugin` for models of this machine. */
const row = z.object({
  day: z.exactOptional(z.string()),
  model: z.exactOptional(z.string()),
  key: z.exactOptional(z.string().nullable()),
  /** Absent for a key that is gone. */
  key_name: z.exactOptional(z.string()),
  user: z.exactOptional(z.string()),
  /** Absent for a removed user. */
  username: z.exactOptional(z.string()),
  plugin: z.exactOptional(z.string().nullable()),
  ...sums,
})

/** The chosen attempts as the ledger is asked for them. Throws `forbidden` for the usage of others. */
async function located(call: Call, { user, ...input }: Chosen) {
  const { app, caller } = call
  if (user !== undefined && user !== caller.id) {
    if (caller.key) throw new AppError('forbidden', 'An API key shows the usage of its owner alone')
    requireAdmin(caller)
  }
  const seesAll = caller.role === 'admin' && !caller.key
  const owner = user ?? (seesAll ? undefined : caller.id)
  const area = await app.usage()
  const store = await area.store()
  // Attempts of this moment count too; a ledger that cannot be written is read as it is.
  await area.ledger.settle().catch(() => undefined)
  const query: RowQuery = { ...input, ...periodOf(area.days, Date.now(), input), user: owner }
  return { store, query }
}

type Chosen = { readonly [K in keyof typeof chosen]?: z.output<(typeof chosen)[K]['def']['innerType']> }

/** The names of users and keys now; the id of a removed one stays without. */
function namesIn({ app }: Call): FindNames {
  return async ({ users, keys }) => ({
    users: await named(users, async (id) => (await (await app.accounts()).users.get(id)).user.username),
    keys: await named(keys, async (id) => (await (await app.apiKeys()).get(id)).name),
  })
}

async function named(
  ids: ReadonlySet<string>,
  nameOf: (id: string) => Promise<string>,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const id of ids) {
    try {
      found.set(id, await nameOf(id))
    } catch (reason) {
      if (!(reason instanceof AppError && reason.code === 'not_found')) throw reason
    }
  }
  return found
}

export const showUsage = defineOperation({
  name: 'usage.show',
  route: 'GET /api/usage',
  access: 'user',
  scope: 'usage',
  failures: [403],
  summary:
    "Sums up the caller's usage, or for an administrator everybody's, by `day`, `model`, `key`, `user` and `plugin`, with commas between; by default of the last 30 days by day.",
  input: z.object({ by: z.prefault(listOf(usageColumns), 'day'), ...chosen }),
  output: z.object({
    rows: z.array(row),
    total,
    since: z.string(),
    until: z.string(),
    /** The time zone of the days. */
    timezone: z.string(),
  }),
  run: async (call, { by, ...input }) => {
    const { store, query } = await located(call, input)
    const report = await reportOf(store, { ...query, by }, namesIn(call))
    const { since, until } = query
    return { ...report, since, until, timezone: call.app.settings.usageZone }
  },
})

export const exportUsage = defineOperation({
  name: 'usage.export',
  route: 'GET /api/usage/export',
  access: 'user',
  scope: 'usage',
  failures: [403],
  summary:
    "Exports the attempts of the caller, or for an administrator everybody's, one by one as CSV or JSON; by default of the last 30 days.",
  input: z.object({ format: z.enum(['csv', 'json']).default('csv'), ...chosen }),
  produces: ['text/csv', 'application/json'],
  output: z.instanceof(Download),
  run: async (call, { format, ...input }) => {
    const { store, query } = await located(call, input)
    const type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8'
    return new Download(type, exportedRows(store, query, format, namesIn(call)), {
      filename: `usage-${query.since}-${query.until}.${format}`,
    })
  },
})

/** An attempt as the ledger has it; names are absent for what is gone. */
const listed = z.object({
  /** The id of the request, which its attempts share. */
  request: z.string(),
  attempt: z.int(),
  /** Its end: milliseconds since 1970 UTC. */
  at: z.int(),
  user: z.string(),
  username: z.exactOptional(z.string()),
  key: z.string().nullable(),
  key_name: z.exactOptional(z.string()),
  plugin: z.string().nullable(),
  model: z.string(),
  purpose: z.enum(purposes),
  outcome: z.enum(outcomes),
  input_tokens: z.int(),
  output_tokens: z.int(),
  estimated: z.boolean(),
  cost_usd: z.string().nullable(),
  cost_source: z.enum(costSources).nullable(),
  duration_ms: z.int(),
  /** Milliseconds to the first content; null where the answer was not streamed. */
  first_ms: z.int().nullable(),
  /** Why it failed, such as `overloaded 503`; null where it did not, or no more is known. */
  reason: z.string().nullable(),
})

export const listAttempts = defineOperation({
  name: 'usage.attempts',
  route: 'GET /api/usage/attempts',
  access: 'user',
  scope: 'usage',
  failures: [403],
  summary:
    "Lists the attempts of the caller, or for an administrator everybody's, one by one and the newest first; by default of the last 30 days. A time in milliseconds counts to the millisecond.",
  input: z.object({
    outcome: z.prefault(listOf(outcomes), outcomes.join()),
    /** The id of a request: its attempts alone. */
    request: z.exactOptional(name),
    ...chosen,
    ...page,
  }),
  output: z.object({
    attempts: z.array(listed),
    /** Whether there are older ones. */
    more: z.boolean(),
  }),
  run: async (call, { limit, offset, outcome, request, ...input }) => {
    const { store, query } = await located(call, input)
    const found: LedgerRow[] = []
    let before = 0
    for await (const batch of await store.rows({
      ...query,
      ...momentsOf(input),
      request,
      outcomes: outcome,
      isNewestFirst: true,
    })) {
      found.push(...batch.slice(Math.max(0, offset - before)))
      before += batch.length
      if (found.length > limit) break
    }
    const rows = found.slice(0, limit)
    const keys = new Set(rows.flatMap(({ key }) => key ?? []))
    const names = await namesIn(call)({ users: new Set(rows.map(({ user }) => user)), keys })
    const attempts = rows.map(({ amounts, cost, durationMs, firstMs, day: _, lowerBound: __, ...row }) => {
      const [username, keyName] = [names.users.get(row.user), names.keys.get(row.key ?? '')]
      return {
        ...row,
        ...(username !== undefined && { username }),
        ...(keyName !== undefined && { key_name: keyName }),
        input_tokens: amounts.input,
        output_tokens: amounts.output,
        cost_usd: cost.nano === null ? null : usdOf(cost.nano),
        cost_source: cost.source,
        duration_ms: durationMs,
        first_ms: firstMs ?? null,
        reason: row.reason ?? null,
      }
    })
    return { attempts, more: found.length > limit }
  },
})

/** The times of a query that are given to the millisecond. */
function momentsOf({ since, until }: Chosen): Pick<RowQuery, 'from' | 'to'> {
  return {
    ...(typeof since === 'number' && { from: since }),
    ...(typeof until === 'number' && { to: until }),
  }
}

export const showLastHour = defineOperation({
  name: 'usage.last_hour',
  route: 'GET /api/usage/last-hour',
  access: 'user',
  scope: 'usage',
  summary:
    "Sums up the attempts of the last hour by minute, the caller's, or for an administrator everybody's; minutes without one are absent.",
  input: z.object({}),
  output: z.object({
    /** The beginnings of the first and of the present minute: milliseconds since 1970 UTC. */
    since: z.int(),
    until: z.int(),
    minutes: z.array(minuteSums),
  }),
  run: async (call) => {
    const until = Math.floor(Date.now() / minuteMs) * minuteMs
    const since = until - 59 * minuteMs
    const { store, query } = await located(call, { since })
    return { since, until, minutes: [...(await store.minutes({ ...query, from: since }))] }
  },
})

const minuteMs = 60_000

export const checkUsage = defineOperation({
  name: 'usage.check',
  route: 'GET /api/usage/check',
  access: 'admin',
  summary: 'Compares the ledger of usage with its sums.',
  input: z.object({}),
  output: z.object({
    ok: z.boolean(),
    /** Differences, one line each. */
    problems: z.array(z.string()),
  }),
  run: async ({ app }) => {
    const area = await app.usage()
    const store = await area.store()
    await area.ledger.settle()
    const problems = await store.check()
    return { ok: problems.length === 0, problems }
  },
})

export const pruneUsage = defineOperation({
  name: 'usage.prune',
  route: 'POST /api/usage/prune',
  access: 'admin',
  audited: true,
  summary: 'Removes single attempts before a day, by default those older than usage.keep_days; their sums stay.',
  input: z.strictObject({ before: z.exactOptional(day) }),
  output: z.object({ removed: z.int(), before: z.string() }),
  run: async ({ app }, input) => {
    const { ledger, days, ...area } = await app.usage()
    const store = await area.store()
    const now = Date.now()
    const { before = now - app.settings.usageDays * 86_400_000 } = input
    const first = typeof before === 'number' ? days.dayOf(before) : before
    if (first > days.dayOf(now))
      throw new AppError('invalid', 'Invalid request', { details: ['before: must not be later than today'] })
    // Rows that wait in a journal would come back after their removal.
    await ledger.settle()
    return { removed: await store.prune(first), before: first }
  },
})

export const usageOperations = [showUsage, exportUsage, listAttempts, showLastHour, checkUsage, pruneUsage]
