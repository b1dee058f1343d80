import { z } from 'zod'
import { type Accounts, type LoginAnswer, longestPassword, networkOf, windowMs } from '../accounts/accounts.ts'
import type { App } from '../app/app.ts'
import { type Caller, defineOperation, type PublicCall } from './operation.ts'

/** Bytes of a body with credentials. */
const limit = 16 * 1024

/** Bounds of every given password and name; new passwords have stricter rules. */
const anyPassword = z.string().min(1, 'must not be empty').max(1024)
const anyName = z.string().min(1, 'must not be empty').max(254)

/** A user: never a hash. Times are milliseconds since 1970 UTC. */
export const userView = z.object({
  id: z.string(),
  username: z.string(),
  email: z.string().nullable(),
  role: z.enum(['admin', 'user']),
  created_at: z.int(),
  updated_at: z.int(),
})

const loginAnswer = z.object({
  token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int(),
  expires_at: z.int(),
  user: userView,
})

const newcomer = z.object({
  username: anyName,
  password: anyPassword,
  email: z.exactOptional(z.string().max(254).nullable()),
})

export const login = defineOperation({
  name: 'auth.login',
  login: 'opens',
  failures: [401, 429],
  route: 'POST /api/auth/login',
  access: 'public',
  loginLimit: true,
  summary: 'Logs in with a username, or the address of a user, and a password.',
  limit,
  input: z.object({ username: anyName, password: anyPassword }),
  output: loginAnswer,
  run: async (call, credentials) => {
    const accounts = await call.app.accounts()
    try {
      return await accounts.logins.login(credentials, call.address)
    } finally {
      await setRateLimit(call, accounts)
    }
  },
})

/** Sets the rate limit headers of draft-ietf-httpapi-ratelimit-headers. */
async function setRateLimit({ address, header }: PublicCall, { logins }: Accounts): Promise<void> {
  if (address === undefined || !header) return
  const { most, left, resetSeconds } = await logins.limit.allowance(networkOf(address))
  header('ratelimit-policy', `"login";q=${most};w=${windowMs / 1000}`)
  header('ratelimit', `"login";r=${left};t=${resetSeconds}`)
}

/** What makes an account and logs it in. */
const opensAccount = {
  login: 'opens',
  failures: [429],
  access: 'public',
  createsFirstUser: true,
  limit,
  input: newcomer,
  output: loginAnswer,
  status: 201,
} as const

export const register = defineOperation({
  name: 'auth.register',
  route: 'POST /api/auth/register',
  ...opensAccount,
  blockedInSingleUserMode: true,
  summary: 'Creates an account and logs it in; the first one is the administrator.',
  run: async ({ app, address }, input) => (await app.accounts()).logins.register(input, address),
})

export const setUp = defineOperation({
  name: 'auth.setup',
  route: 'POST /api/auth/setup',
  ...opensAccount,
  summary: 'Creates the administrator and logs them in, while there is no user.',
  run: async ({ app, address }, input) => (await app.accounts()).logins.setUp(input, address),
})

export const logout = defineOperation({
  name: 'auth.logout',
  login: 'ends',
  route: 'POST /api/auth/logout',
  access: 'user',
  summary: 'Ends this login.',
  limit,
  input: z.object({}),
  output: z.object({ message: z.string() }),
  run: async ({ app, caller, session, address }) => {
    const accounts = await app.accounts()
    await accounts.logins.logout(caller, session, address)
    return { message: 'Logged out' }
  },
})

export const whoAmI = defineOperation({
  name: 'auth.me',
  route: 'GET /api/auth/me',
  access: 'user',
  summary: 'Shows the authenticated user.',
  input: z.object({}),
  output: userView.extend({
    user: userView,
    must_change_password: z.boolean(),
    /** Null in process, where there is no login. */
    session: z.object({ expires_at: z.int() }).nullable(),
  }),
  run: async ({ app, caller, session }) => {
    const accounts = await app.accounts()
    if (await accounts.needsSetup()) return withoutAccount(caller)
    const { user, mustChangePassword } = await accounts.users.get(caller.id)
    const expiresAt = session === undefined ? undefined : await accounts.logins.expiryOf(session)
    return {
      ...user,
      user,
      must_change_password: mustChangePassword,
      session: expiresAt === undefined ? null : { expires_at: expiresAt },
    }
  },
})

/** The answer while there are no users: the owner of the data folder. */
function withoutAccount({ id, username, role }: Caller) {
  const user = { id, username, email: null, role, created_at: 0, updated_at: 0 }
  return { ...user, user, must_change_password: false, session: null }
}

/** Clients of the earlier public implementation send camelCase. */
const passwordChange = z.preprocess(
  (raw) => {
    if (typeof raw !== 'object' || raw === null) return raw
    const { currentPassword, newPassword, ...rest } = raw as Record<string, unknown>
    return {
      ...(currentPassword !== undefined && { current_password: currentPassword }),
      ...(newPassword !== undefined && { new_password: newPassword }),
      ...rest,
    }
  },
  z.object({ current_password: anyPassword, new_password: anyPassword, revoke_keys: z.boolean().default(false) }),
)

/** How many API keys of the user a new password revoked, and how many live on. */
const keyCounts = { live_keys: z.int(), revoked_keys: z.int() }

/** Revokes the user's API keys where that was asked for, and counts. */
async function settleKeys(app: App, user: string, revoke: boolean) {
  const keys = await app.apiKeys()
  const revoked_keys = revoke ? await keys.revokeAll(user) : 0
  return { revoked_keys, live_keys: await keys.countLive(user) }
}

export const changePassword = defineOperation({
  name: 'auth.change-password',
  login: 'opens',
  failures: [429],
  route: 'POST /api/auth/change-password',
  access: 'user',
  summary:
    "Changes the caller's password; every login of the user ends, and a new one begins. API keys live on unless `revoke_keys` is true.",
  limit,
  input: passwordChange,
  output: loginAnswer.extend({ message: z.string(), ...keyCounts }),
  run: async ({ app, caller, address }, { current_password, new_password, revoke_keys }) => {
    const { logins } = await app.accounts()
    const answer: LoginAnswer = await logins.changePassword(caller.id, current_password, new_password, address)
    return { message: 'Password changed', ...answer, ...(await settleKeys(app, caller.id, revoke_keys)) }
  },
})

export const resetPassword = defineOperation({
  name: 'auth.reset-password',
  failures: [404],
  route: 'POST /api/auth/reset-password',
  access: 'admin',
  audited: true,
  summary:
    "Sets a user's password, or makes a random one; every login of the user ends. API keys live on unless `revoke_keys` is true.",
  limit,
  input: z
    .object({
      user_id: z.exactOptional(z.string()),
      username: z.exactOptional(anyName),
      new_password: z.exactOptional(anyPassword),
      revoke_keys: z.boolean().default(false),
    })
    .refine(({ user_id, username }) => (user_id === undefined) !== (username === undefined), {
      error: 'name the user: either user_id or username',
    }),
  output: z.object({
    message: z.string(),
    user: userView,
    temporary_password: z.exactOptional(z.string()),
    ...keyCounts,
  }),
  deed: (_input, { user }) => ({ name: user.username }),
  run: async ({ app }, { user_id, username, new_password, revoke_keys }) => {
    const { users, logins } = await app.accounts()
    const account = await (user_id === undefined ? users.named(username!) : users.get(user_id))
    const { user, temporary } = await logins.resetPassword(account, new_password)
    const counts = await settleKeys(app, user.id, revoke_keys)
    return {
      message: 'Password reset',
      user,
      ...(temporary !== undefined && { temporary_password: temporary }),
      ...counts,
    }
  },
})

export const systemInfo = defineOperation({
  name: 'auth.system-info',
  route: 'GET /api/auth/system-info',
  access: 'public',
  summary: 'Shows the mode of the installation and its password rules.',
  input: z.object({}),
  output: z.object({
    mode: z.enum(['single-user', 'multi-user']),
    single_user_mode: z.boolean(),
    registration_enabled: z.boolean(),
    needs_setup: z.boolean(),
    password_policy: z.object({
      min_length: z.int(),
      max_bytes: z.int(),
      upper: z.boolean(),
      lower: z.boolean(),
      digit: z.boolean(),
    }),
  }),
  run: async ({ app }) => {
    const accounts = await app.accounts()
    const { singleUserMode, allowRegistration } = accounts.rules
    const needsSetup = await accounts.needsSetup()
    return {
      mode: singleUserMode ? ('single-user' as const) : ('multi-user' as const),
      single_user_mode: singleUserMode,
      registration_enabled: !singleUserMode && (allowRegistration || needsSetup),
      needs_setup: needsSetup,
      password_policy: { min_length: 6, max_bytes: longestPassword, upper: true, lower: true, digit: true },
    }
  },
})

export const authOperations = [login, register, setUp, logout, whoAmI, changePassword, resetPassword, systemInfo]
