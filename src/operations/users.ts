import { z } from 'zod'
import { requireAdmin } from './access.ts'
import { userView } from './auth.ts'
import { page } from './input.ts'
import { type Call, defineOperation } from './operation.ts'

const limit = 16 * 1024
const role = z.enum(['admin', 'user'])
const name = z.string().min(1, 'must not be empty').max(254)
const email = z.string().max(254).nullable()

/** The account of the user that the path names; throws `not_found`. */
async function validateUserExists({ app }: Call, { id = '' }: Readonly<Record<string, string>>) {
  return (await app.accounts()).users.get(id)
}

export const listUsers = defineOperation({
  name: 'users.list',
  route: 'GET /api/users',
  access: 'admin',
  blockedInSingleUserMode: true,
  summary: 'Lists the users, oldest first.',
  input: z.object({
    limit: z.coerce.number().int().min(1).max(200).default(100),
    offset: page.offset,
    /** A part of the name or address. */
    q: z.exactOptional(z.string().max(254)),
  }),
  output: z.object({ users: z.array(userView), total: z.int(), limit: z.int(), offset: z.int() }),
  run: async ({ app }, query) => {
    const { users } = await app.accounts()
    const found = await users.list(query)
    return { users: found.users, total: found.total, limit: query.limit, offset: query.offset }
  },
})

export const countUsers = defineOperation({
  name: 'users.stats',
  route: 'GET /api/users/stats',
  access: 'admin',
  summary: 'Counts users and logins.',
  input: z.object({}),
  output: z.object({
    total_users: z.int(),
    admins: z.int(),
    users: z.int(),
    active_sessions: z.int(),
    created_last_7_days: z.int(),
    created_last_30_days: z.int(),
  }),
  run: async ({ app }) => (await app.accounts()).users.counts(),
})

export const showUser = defineOperation({
  name: 'users.show',
  route: 'GET /api/users/:id',
  access: 'self',
  summary: 'Shows a user.',
  locate: validateUserExists,
  input: z.object({ id: z.string() }),
  output: userView,
  run: (_, _input, { user }) => user,
})

export const createUser = defineOperation({
  name: 'users.create',
  route: 'POST /api/users',
  access: 'admin',
  blockedInSingleUserMode: true,
  audited: true,
  summary: 'Creates a user; the first one is always an administrator.',
  limit,
  input: z.strictObject({
    username: name,
    password: z.string().min(1, 'must not be empty').max(1024),
    email: z.exactOptional(email),
    role: role.default('user'),
  }),
  output: userView,
  status: 201,
  deed: (_input, { username: name }) => ({ name }),
  run: async ({ app, header }, input) => {
    const user = await (await app.accounts()).users.create(input)
    header?.('location', `/api/users/${user.id}`)
    return user
  },
})

export const updateUser = defineOperation({
  name: 'users.update',
  route: 'PUT /api/users/:id',
  access: 'self',
  audited: true,
  summary: "Changes a user's name, address or role; only an administrator changes roles.",
  limit,
  locate: validateUserExists,
  input: z.object({
    id: z.string(),
    username: z.exactOptional(name),
    email: z.exactOptional(email),
    role: z.exactOptional(role),
    password: z.exactOptional(z.never({ error: 'is changed with change-password, or reset by an administrator' })),
  }),
  output: userView,
  deed: ({ role }, { username: name }) => ({ name, ...(role !== undefined && { action: 'users.role' }) }),
  run: async ({ app, caller }, { id, username, email, role }) => {
    const { users } = await app.accounts()
    if (role !== undefined && role !== (await users.get(id)).user.role) requireAdmin(caller)
    return users.update(id, {
      ...(username !== undefined && { username }),
      ...(email !== undefined && { email: email === '' ? null : email }),
      ...(role !== undefined && { role }),
    })
  },
})

export const removeUser = defineOperation({
  name: 'users.remove',
  route: 'DELETE /api/users/:id',
  access: 'admin',
  blockedInSingleUserMode: true,
  audited: true,
  summary: "Removes a user with the user's personas, conversations and logins.",
  locate: validateUserExists,
  input: z.object({ id: z.string() }),
  output: z.object({ message: z.string(), id: z.string() }),
  deed: (_input, _output, { user }) => ({ name: user.username }),
  run: async ({ app }, { id }) => {
    const { users } = await app.accounts()
    const { personas, memories } = await app.personas()
    const owned = await personas.list(id)
    if (owned.length === 0) await users.remove(id)
    else await (await app.packages()).backups.removeWithBackups(owned, () => users.remove(id))
    await memories.clear()
    return { message: 'User deleted', id }
  },
})

export const userOperations = [listUsers, countUsers, createUser, showUser, updateUser, removeUser]
