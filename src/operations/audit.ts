import { z } from 'zod'
import { AppError } from '../errors.ts'
import { createDays, nextDay, startOf } from '../usage/usage.ts'
import { day } from './day-input.ts'
import { page } from './input.ts'
import { type Call, defineOperation } from './operation.ts'

/** Something that was done. Null for what is not known, and for an address on this machine. */
const entry = z.object({
  /** Milliseconds since 1970 UTC. */
  at: z.int(),
  /** The id of a user, or `local` for the owner of the data folder. */
  actor: z.string().nullable(),
  /** The user's name then. */
  actor_name: z.string().nullable(),
  action: z.string(),
  subject: z.string().nullable(),
  /** The name then of a subject that is a user or an API key. */
  subject_name: z.string().nullable(),
  address: z.string().nullable(),
  outcome: z.enum(['ok', 'failed', 'refused']),
})

export const showAudit = defineOperation({
  name: 'audit.list',
  route: 'GET /api/audit',
  access: 'admin',
  summary:
    'Lists what was done, by whom and from where, the newest first: logins, and changes of users, keys, plugins, limits, prices, settings and backups. Never contents, keys or passwords.',
  input: z.object({
    actor: z.exactOptional(
      z
        .string()
        .min(1, 'must not be empty')
        .max(254)
        .meta({ description: 'The id, name or e-mail address of a user, or local.' }),
    ),
    action: z.exactOptional(
      z
        .string()
        .min(1, 'must not be empty')
        .max(100)
        .meta({ description: 'An action such as users.create, or an area such as users.' }),
    ),
    since: z.exactOptional(day),
    until: z.exactOptional(day),
    ...page,
  }),
  output: z.object({ entries: z.array(entry), total: z.int() }),
  run: async (call, { actor, since, until, ...query }) => {
    const accounts = await call.app.accounts()
    const days = createDays(call.app.settings.usageZone)
    const first = typeof since === 'string' ? startOf(days, since) : since
    const last = typeof until === 'string' ? startOf(days, nextDay(until)) - 1 : until
    if (first !== undefined && last !== undefined && first > last)
      throw new AppError('invalid', 'Invalid request', { details: ['until: is before since'] })
    const chosen = { ...query, since: first, until: last, actor: actor && (await idOf(call, actor)) }
    const { entries, total } = await accounts.audit(chosen)
    return { entries: [...entries], total }
  },
})

/** The id of a user by name; an unknown one stays as it is: it may be the id of a removed user, or `local`. */
async function idOf({ app }: Call, text: string): Promise<string> {
  try {
    return (await (await app.accounts()).users.named(text)).user.id
  } catch (reason) {
    if (reason instanceof AppError && reason.code === 'not_found') return text
    throw reason
  }
}

export const auditOperations = [showAudit]
