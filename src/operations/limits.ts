import { z } from 'zod'
import type { App } from '../app/app.ts'
import { AppError } from '../errors.ts'
import {
  type Budget,
  hasTwins,
  type LimitArea,
  type LimitDocument,
  type LimitView,
  mostBudgets,
  nanoOfUsd,
  readSubject,
  requireLimits,
  subjectOf,
  zoneName,
} from '../usage/usage.ts'
import { localOwner } from './ask.ts'
import { type Caller, defineOperation } from './operation.ts'

const mostRequests = 1_000_000_000
const mostTokens = 1_000_000_000_000

const requests = z.int().min(1).max(mostRequests)
const tokens = z.int().min(1).max(mostTokens)

/** The fields of a budget beside its amount and period. */
const budgetFields = {
  /** The time zone of the period; default the setting `usage.timezone`. */
  timezone: z.exactOptional(
    z
      .string()
      .max(64)
      .refine((zone) => zoneName(zone) !== undefined, 'must be an IANA time zone such as Europe/Berlin'),
  ),
  /** Cuts a stream that runs over the budget. */
  hard: z.exactOptional(z.boolean()),
  /** Percent from which on clients and the log are warned; default 80. */
  warn: z.exactOptional(z.int().min(1).max(100)),
}

const budgetInput = z.strictObject({
  /** USD, such as `20` or `"0.50"`; 0 lets nothing through that costs anything. */
  amount_usd: z
    .union([z.string().max(20), z.number()], 'must be an amount in USD')
    .refine((amount) => nanoOfUsd(amount) !== undefined, 'must be from 0 to 1000000, with at most nine decimals'),
  period: z.enum(['day', 'week', 'month']),
  ...budgetFields,
})

/** The limits of a subject, as a body states them: all of them, and no other field. */
const limitFields = {
  rpm: z.exactOptional(requests),
  rpd: z.exactOptional(requests),
  tpm: z.exactOptional(tokens),
  tpd: z.exactOptional(tokens),
  parallel: z.exactOptional(z.int().min(1).max(100_000)),
  budgets: z.exactOptional(
    z
      .array(budgetInput)
      .max(mostBudgets)
      .refine((budgets) => !hasTwins(budgets), 'must hold one budget for each period'),
  ),
}

/** A change of limits, as a body states it: null takes one away. */
const changeFields = {
  rpm: z.exactOptional(requests.nullable()),
  rpd: z.exactOptional(requests.nullable()),
  tpm: z.exactOptional(tokens.nullable()),
  tpd: z.exactOptional(tokens.nullable()),
  parallel: z.exactOptional(limitFields.parallel.unwrap().nullable()),
  budgets: limitFields.budgets,
  ...budgetFields,
}

/** Such limits as one value. */
export const limitsInput = z.strictObject(limitFields)

const limitView = z.object({
  subject: z.string(),
  name: z.exactOptional(z.string()),
  rpm: z.int().optional(),
  rpd: z.int().optional(),
  tpm: z.int().optional(),
  tpd: z.int().optional(),
  parallel: z.int().optional(),
  budgets: z.array(
    z.object({
      amount_usd: z.string(),
      period: z.enum(['day', 'week', 'month']),
      timezone: z.string(),
      hard: z.boolean(),
      warn: z.int(),
      spent_usd: z.string(),
      /** Of attempts under way. */
      reserved_usd: z.string(),
      resets_at: z.int(),
      /** True from the percentage of `warn` on. */
      warning: z.boolean(),
    }),
  ),
})

/** `key:ID`, `user:NAME`, `plugin:ID` or `all`. */
const subject = z.string().max(300)

const changesLimits = { access: 'admin', audited: true } as const

export const listLimits = defineOperation({
  name: 'limits.list',
  route: 'GET /api/limits',
  access: 'user',
  summary: 'Lists limits and the state of their budgets: all of them for an administrator, else those of the caller.',
  input: z.object({}),
  output: z.object({ limits: z.array(limitView) }),
  run: async ({ app, caller }) => {
    const isWanted = await visibleTo(app, caller)
    return { limits: await named(app, await (await limitsOf(app)).list(isWanted)) }
  },
})

export const showLimit = defineOperation({
  name: 'limits.show',
  route: 'GET /api/limits/:subject',
  access: 'admin',
  summary: 'Shows the limits of a subject: key:ID, user:NAME, plugin:ID or all.',
  input: z.object({ subject }),
  output: limitView,
  run: async ({ app }, input) => {
    const wanted = await subjectIn(app, input.subject)
    const [view] = await (await limitsOf(app)).list((each) => each === wanted)
    if (!view) throw noLimits(input.subject)
    return (await named(app, [view]))[0]!
  },
})

export const checkLimit = defineOperation({
  name: 'limits.check',
  route: 'GET /api/limits/:subject/check',
  access: 'admin',
  summary:
    'Shows what a change of the limits of a subject meets: those that it has, and the models that a budget of it refuses, since their price is not known.',
  input: z.object({ subject }),
  output: z.object({
    /** Absent where the subject has none. */
    limits: z.exactOptional(limitView),
    /** As `plugin:model`. */
    unpriced: z.array(z.string()),
  }),
  run: async ({ app }, input) => {
    const wanted = await subjectIn(app, input.subject)
    const { kind, id } = readSubject(wanted)!
    const [view] = await named(app, await (await limitsOf(app)).list((each) => each === wanted))
    return {
      ...(view && { limits: view }),
      unpriced: [...(await app.usage()).unpriced(kind === 'plugin' ? id : undefined)],
    }
  },
})

const setLimit = defineOperation({
  name: 'limits.set',
  route: 'PUT /api/limits/:subject',
  ...changesLimits,
  summary: 'Replaces the limits of a subject; its counts and spent money stay.',
  limit: 16 * 1024,
  input: z.strictObject({ subject, ...limitFields }),
  output: limitView,
  run: async ({ app }, { subject, ...limits }) => {
    const wanted = await subjectIn(app, subject)
    const view = await (await limitsOf(app)).set(wanted, limitDocument(limits))
    return (await named(app, [view]))[0]!
  },
})

export const changeLimit = defineOperation({
  name: 'limits.change',
  route: 'POST /api/limits/:subject/change',
  ...changesLimits,
  summary:
    'Changes the limits of a subject that are named, and makes them where there are none: null takes one away, budgets replace all its budgets, and timezone, hard and warn are for each of them. Others stay as they are at the moment of the write; a subject without any left has no limits.',
  limit: 16 * 1024,
  input: z.strictObject({ subject, ...changeFields }),
  output: limitView,
  run: async ({ app }, { subject, budgets, timezone, hard, warn, ...rates }) => {
    const wanted = await subjectIn(app, subject)
    const ofBudgets = fieldsKept({
      ...(timezone !== undefined && { timezone }),
      ...(hard !== undefined && { hard }),
      ...(warn !== undefined && { warn }),
    })
    const view = await (await limitsOf(app)).change(wanted, {
      ...rates,
      ...(budgets && { budgets: budgets.map(budgetKept) }),
      ...(Object.keys(ofBudgets).length > 0 && { ofBudgets }),
    })
    return (await named(app, [view]))[0]!
  },
})

export const removeLimit = defineOperation({
  name: 'limits.remove',
  route: 'DELETE /api/limits/:subject',
  ...changesLimits,
  summary: 'Removes the limits of a subject.',
  input: z.object({ subject }),
  output: z.object({ message: z.string(), id: z.string() }),
  run: async ({ app }, { subject }) => {
    if (!(await (await limitsOf(app)).remove(await subjectIn(app, subject)))) throw noLimits(subject)
    return { message: 'Limits removed', id: subject }
  },
})

export const resetLimit = defineOperation({
  name: 'limits.reset',
  route: 'POST /api/limits/:subject/reset',
  ...changesLimits,
  summary:
    'Begins the spend of the budgets of a subject anew; their periods stay, and requests and tokens are not reset.',
  input: z.strictObject({ subject }),
  output: limitView,
  run: async ({ app }, { subject }) => {
    const view = await (await limitsOf(app)).reset(await subjectIn(app, subject))
    if (!view) throw noLimits(subject)
    return (await named(app, [view]))[0]!
  },
})

export const limitOperations = [listLimits, showLimit, checkLimit, setLimit, changeLimit, removeLimit, resetLimit]

/** Limits as they are kept. Throws `invalid` where nothing is limited. */
export function limitDocument({ budgets, ...rates }: z.output<typeof limitsInput>): LimitDocument {
  return requireLimits({ ...rates, ...(budgets?.length && { budgets: budgets.map(budgetKept) }) })
}

function budgetKept({ amount_usd, period, ...fields }: z.output<typeof budgetInput>): Budget {
  return { period, nano: nanoOfUsd(amount_usd)!, ...fieldsKept(fields) }
}

/** The fields of a budget with its time zone by its usual name. */
function fieldsKept<T extends Pick<Budget, 'timezone'>>({ timezone, ...fields }: T) {
  return { ...fields, ...(timezone !== undefined && { timezone: zoneName(timezone)! }) }
}

/** The most keys of a user that are shown with their limits. */
const mostKeys = 10_000

/** The limits that a caller may see: an administrator all, others their own and those of their keys. */
async function visibleTo(app: App, { id, role }: Caller): Promise<(subject: string) => boolean> {
  if (role === 'admin') return () => true
  const { keys } = await (await app.apiKeys()).list({ userId: id, limit: mostKeys, offset: 0 })
  const own = new Set([subjectOf('user', id), ...keys.map((key) => subjectOf('key', key.id))])
  return (subject) => own.has(subject)
}

/** The subject by its id; users are named. Throws `invalid` for another text, `not_found` for an unknown subject. */
async function subjectIn(app: App, text: string): Promise<string> {
  const read = readSubject(text)
  if (!read)
    throw new AppError('invalid', 'Invalid subject of limits', {
      details: ['Use key:ID, user:NAME, plugin:ID or all'],
    })
  const { kind, id } = read
  if (kind === 'plugin') return subjectOf(kind, app.plugins.get(id).id)
  if (kind === 'key') return subjectOf(kind, (await (await app.apiKeys()).get(id)).id)
  if (kind !== 'user' || id === localOwner.id) return text
  const { users } = await app.accounts()
  const account = await users.named(id).catch(() => users.get(id))
  return subjectOf('user', account.user.id)
}

interface NamedLimits extends LimitView {
  /** Of a key. */
  readonly name?: string
}

/** The same limits with the names of their users and keys. */
async function named(app: App, views: readonly LimitView[]): Promise<readonly NamedLimits[]> {
  const [{ users }, keys] = await Promise.all([app.accounts(), app.apiKeys()])
  return Promise.all(
    views.map(async (view) => {
      const { kind, id } = readSubject(view.subject)!
      if (kind === 'key') {
        const key = await keys.get(id).catch(() => undefined)
        return key ? { ...view, name: key.name } : view
      }
      if (kind !== 'user') return view
      const account = await users.get(id).catch(() => undefined)
      return account ? { ...view, subject: subjectOf('user', account.user.username) } : view
    }),
  )
}

/** The limits of an installation; its database is made where there is none yet. */
export async function limitsOf(app: App): Promise<LimitArea> {
  return (await app.usage()).limits()
}

function noLimits(subject: string): AppError {
  return new AppError('not_found', `There are no limits of ${subject}`, {
    details: ['List those that there are: aichat limit list'],
  })
}
