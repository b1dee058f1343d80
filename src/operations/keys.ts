import { z } from 'zod'
import { type ApiKey, type ApiKeys, localPlugin, scopes, splitPattern } from '../accounts/accounts.ts'
import type { App } from '../app/app.ts'
import { AppError } from '../errors.ts'
import { parseLifetime } from '../settings/settings.ts'
import { subjectOf } from '../usage/usage.ts'
import { requireAdmin } from './access.ts'
import { page, queryFlag } from './input.ts'
import { limitDocument, limitsInput, limitsOf } from './limits.ts'
import { type Call, defineOperation } from './operation.ts'
import { ownPersona } from './personas.ts'

/** Bytes of a body: the longest lists are below 64 KiB. */
const limit = 64 * 1024

/** The most entries of a list, and characters of one. */
const mostEntries = 100
const longestEntry = 200

/** The longest overlap of a rotation, and the usual one: seconds. */
const longestOverlap = 7 * 86_400
const usualOverlap = 86_400

const nonEmpty = 'must hold at least one entry; leave it out to allow all'
const entry = z.string().min(1, 'must not be empty').max(longestEntry)
const entries = z.array(entry).min(1, nonEmpty).max(mostEntries)
const scopeList = z.array(z.enum(scopes)).min(1, 'must hold at least one scope').max(scopes.length)

/** Seconds of a duration such as `90d`, or a number of seconds. */
const lifetime = z.union([z.number(), z.string().max(40)]).transform((value, context) => {
  const seconds = parseLifetime(String(value))
  if (seconds !== undefined) return seconds
  context.addIssue('must be a duration such as 90d, 12h or 30m, or seconds, up to ten years')
  return z.NEVER
})

const overlap = z.union([z.number(), z.string().max(40)]).transform((value, context) => {
  const seconds = /^0+\s*[a-z]*$/i.test(String(value).trim()) ? 0 : parseLifetime(String(value))
  if (seconds !== undefined && seconds <= longestOverlap) return seconds
  context.addIssue('must be a duration from 0 to 7d, such as 24h')
  return z.NEVER
})

/** The fields of a key that its owner chooses. `models` are patterns, see `permitsOf`; personas are names or ids. */
const chosen = {
  name: z.exactOptional(z.string().max(400)),
  scopes: z.exactOptional(scopeList),
  models: z.exactOptional(entries),
  plugins: z.exactOptional(entries),
  personas: z.exactOptional(entries),
}

const secretView = z.object({
  last4: z.string(),
  created_at: z.int(),
  /** When a replaced secret ends; null for the current one. */
  valid_until: z.int().nullable(),
  last_used_at: z.int().nullable(),
})

/** A key without its secret. Times are milliseconds since 1970 UTC; uses are shown to the minute. */
export const keyView = z.object({
  id: z.string(),
  name: z.string(),
  user_id: z.string(),
  /** Null when the owner is gone. */
  username: z.string().nullable(),
  state: z.enum(['live', 'expired', 'revoked', 'ownerless']),
  scopes: z.array(z.enum(scopes)),
  /** Absent lists allow all. */
  models: z.exactOptional(z.array(z.string())),
  plugins: z.exactOptional(z.array(z.string())),
  personas: z.exactOptional(z.array(z.string())),
  last4: z.string(),
  created_at: z.int(),
  updated_at: z.int(),
  expires_at: z.int().nullable(),
  revoked_at: z.int().nullable(),
  last_used_at: z.int().nullable(),
  /** The current secret, and after a rotation the one before it. */
  secrets: z.array(secretView),
})

/** A key with its secret: in the answers that made it, and never again. */
const keyWithSecret = keyView.extend({ secret: z.string() })

/** The key that the path names, where it is the caller's own or the caller is an administrator. Throws `not_found`. */
async function locateKey({ app, caller }: Call, { id = '' }: Readonly<Record<string, string>>): Promise<ApiKey> {
  const key = await (await app.apiKeys()).get(id)
  if (caller.role === 'admin' || key.user_id === caller.id) return key
  // The same words as for an id that no key has.
  throw new AppError('not_found', `API key "${id.slice(0, 100)}" not found`)
}

const oneKey = { access: 'user', locate: locateKey } as const

export const listKeys = defineOperation({
  name: 'keys.list',
  route: 'GET /api/keys',
  access: 'user',
  summary: "Lists the caller's API keys, oldest first; for an administrator also those of a user, or of all.",
  input: z.object({ ...page, user_id: z.exactOptional(z.string()), all: queryFlag }),
  output: z.object({ keys: z.array(keyView), total: z.int() }),
  run: async ({ app, caller }, { limit, offset, user_id, all }) => {
    if (all || (user_id !== undefined && user_id !== caller.id)) requireAdmin(caller)
    const keys = await app.apiKeys()
    const found = await keys.list({ userId: all ? undefined : (user_id ?? caller.id), limit, offset })
    return { keys: found.keys.map((key) => viewOf(keys, key)), total: found.total }
  },
})

export const createKey = defineOperation({
  name: 'keys.create',
  route: 'POST /api/keys',
  access: 'user',
  audited: true,
  summary: 'Makes an API key; its secret is in this answer alone. An administrator may make one for another user.',
  limit,
  input: z.strictObject({
    ...chosen,
    expires_in: z.exactOptional(lifetime),
    user_id: z.exactOptional(z.string().max(100)),
    /** The limits of the key; its owner's own hold as well. */
    limits: z.exactOptional(limitsInput),
  }),
  output: keyWithSecret,
  status: 201,
  deed: (_input, { name }) => ({ name }),
  run: async (call, { user_id, expires_in: expiresIn, personas, limits, ...order }) => {
    const { app, caller, header } = call
    const owner = user_id ?? caller.id
    if (owner !== caller.id) requireAdmin(caller)
    refuseUnknownPlaces(app, order)
    const keys = await app.apiKeys()
    const ids = personas && (await personaIds(call, owner, personas))
    const document = limits && limitDocument(limits)
    const area = document && (await limitsOf(app))
    const { key, secret } = await keys.create({ ...order, owner, personas: ids, expiresIn })
    try {
      if (document) await area?.set(subjectOf('key', key.id), document)
    } catch (reason) {
      // A key without its limits is none that was asked for.
      await keys.revoke(key.id)
      throw reason
    }
    header?.('location', `/api/keys/${key.id}`)
    return { ...viewOf(keys, key), secret }
  },
})

export const showKey = defineOperation({
  name: 'keys.show',
  route: 'GET /api/keys/:id',
  ...oneKey,
  summary: 'Shows an API key without its secret, and which of its secrets was used when.',
  input: z.object({ id: z.string() }),
  output: keyView,
  run: async ({ app }, _input, key) => viewOf(await app.apiKeys(), key),
})

export const updateKey = defineOperation({
  name: 'keys.update',
  route: 'PUT /api/keys/:id',
  ...oneKey,
  audited: true,
  summary:
    'Changes the name, scopes, lists or expiry of an API key: absent fields stay, null allows all or takes the expiry away.',
  limit,
  input: z.strictObject({
    id: z.string(),
    ...chosen,
    models: z.exactOptional(entries.nullable()),
    plugins: z.exactOptional(entries.nullable()),
    personas: z.exactOptional(entries.nullable()),
    /** From now. */
    expires_in: z.exactOptional(lifetime.nullable()),
  }),
  output: keyView,
  deed: (_input, { name }) => ({ name }),
  run: async (call, { id: _id, expires_in, personas, ...change }, key) => {
    refuseUnknownPlaces(call.app, change)
    const keys = await call.app.apiKeys()
    const updated = await keys.update(key.id, {
      ...change,
      ...(personas !== undefined && { personas: personas && (await personaIds(call, key.user_id, personas)) }),
      ...(expires_in !== undefined && { expires_at: expires_in === null ? null : Date.now() + expires_in * 1000 }),
    })
    return viewOf(keys, updated)
  },
})

export const rotateKey = defineOperation({
  name: 'keys.rotate',
  route: 'POST /api/keys/:id/rotate',
  ...oneKey,
  audited: true,
  summary:
    'Gives an API key a new secret, which is in this answer alone; the old one works for `overlap`, 24 hours by default.',
  limit,
  input: z.strictObject({ id: z.string(), overlap: overlap.default(usualOverlap) }),
  output: keyWithSecret,
  deed: (_input, { name }) => ({ name }),
  run: async ({ app }, { overlap }, { id }) => {
    const keys = await app.apiKeys()
    const { key, secret } = await keys.rotate(id, overlap)
    return { ...viewOf(keys, key), secret }
  },
})

export const revokeKey = defineOperation({
  name: 'keys.revoke',
  route: 'DELETE /api/keys/:id',
  ...oneKey,
  audited: true,
  summary: 'Revokes an API key for good and ends its open streams; it stays in lists, since usage names it.',
  input: z.object({ id: z.string() }),
  output: z.object({ id: z.string(), revoked: z.literal(true) }),
  deed: (_input, _output, { name }) => ({ name }),
  run: async ({ app }, _input, { id }) => {
    await (await app.apiKeys()).revoke(id)
    return { id, revoked: true as const }
  },
})

export const keyOperations = [listKeys, createKey, showKey, updateKey, rotateKey, revokeKey]

function viewOf(keys: ApiKeys, key: ApiKey): z.input<typeof keyView> {
  const { scopes, models, plugins, personas, secrets, ...rest } = key
  return {
    ...rest,
    state: keys.stateOf(key),
    scopes: [...scopes],
    ...(models && { models: [...models] }),
    ...(plugins && { plugins: [...plugins] }),
    ...(personas && { personas: [...personas] }),
    last4: secrets[0]!.last4,
    secrets: secrets.map((secret) => ({ ...secret })),
  }
}

/** The ids of the owner's personas of these names or ids. Throws `invalid` for one that is not there. */
async function personaIds(call: Call, owner: string, names: readonly string[]): Promise<readonly string[]> {
  const asOwner = { ...call, caller: { ...call.caller, id: owner } }
  const ids: string[] = []
  for (const name of names) {
    const persona = await ownPersona(asOwner, name).catch((reason: unknown) => {
      if (!(reason instanceof AppError) || !['not_found', 'forbidden'].includes(reason.code)) throw reason
      throw invalid(`personas: the owner of the key has no persona "${name}"`)
    })
    ids.push(persona.id)
  }
  return [...new Set(ids)]
}

interface Places {
  readonly models?: readonly string[] | null
  readonly plugins?: readonly string[] | null
}

/** Throws `invalid` for a plugin that is not installed: a misspelt list would lock its program out. */
function refuseUnknownPlaces(app: App, { models, plugins }: Places): void {
  const isKnown = (name: string) => name === localPlugin || app.plugins.find(name) !== undefined
  for (const name of plugins ?? [])
    if (!isKnown(name)) throw invalid(`plugins: plugin "${name}" is not installed; ${localPlugin} is this machine`)
  for (const pattern of models ?? []) {
    const { plugin } = splitPattern(pattern)
    if (plugin === undefined || plugin.includes('*') || isKnown(plugin)) continue
    throw invalid(
      `models: "${plugin}" in "${pattern}" is no installed plugin; for a model with a colon write "*:${pattern}"`,
    )
  }
}

function invalid(line: string): AppError {
  return new AppError('invalid', 'Invalid request', { details: [line] })
}
