import { AppError } from '../errors.ts'
import { networkOf } from './addresses.ts'
import type { LoginFailureStore } from './login-failures.ts'
import { createLoginLimit } from './login-limit.ts'
import { type Passwords, passwordProblems, randomPassword } from './passwords.ts'
import { createRateLimit } from './rate-limit.ts'
import type { Claims, Tokens } from './tokens.ts'
import {
  type Account,
  type AccountStore,
  emailProblems,
  type LiveSession,
  type MaybePromise,
  nameKey,
  type Role,
  type Taken,
  type User,
  usernameProblems,
  whenThere,
} from './users.ts'

/** The answer to a login: RFC 6750's members, and the user. `expires_in` is seconds, `expires_at` milliseconds since 1970. */
export interface LoginAnswer {
  readonly token: string
  readonly token_type: 'Bearer'
  readonly expires_in: number
  readonly expires_at: number
  readonly user: User
}

/** The user and login of a token, or why it is refused. */
export type Verified =
  | {
      readonly caller: { readonly id: string; readonly username: string; readonly role: Role }
      readonly session: string
    }
  | 'invalid'
  | 'expired'

export interface Newcomer {
  readonly username: string
  readonly password: string
  readonly email?: string | null | undefined
}

type Named = Pick<User, 'id' | 'username'>

export type Logins = ReturnType<typeof createLogins>

export interface LoginRules {
  readonly singleUserMode: boolean
  readonly allowRegistration: boolean
  /** Seconds. */
  readonly tokenLifetime: number
  /** Failed logins from one address, after which it is refused. */
  readonly limits: { readonly loginAttempts: number }
}

export interface LoginParts {
  readonly store: AccountStore
  readonly failures: LoginFailureStore
  readonly passwords: Passwords
  readonly tokens: Tokens
  readonly rules: LoginRules
  readonly isDefaultAdministrator: (id: string) => Promise<boolean>
  /** Milliseconds that only go forward. */
  readonly now: () => number
  /** Milliseconds since 1970. */
  readonly clock: () => number
  readonly newId: () => string
}

/** Wrong current passwords of one user, after which no other one is tried for a while. */
const wrongPasswords = 5

/** How many accounts one address may register: 120 a minute, which only a flood reaches. */
const registrations = { limit: 120, windowMs: 60_000 }

/** Logs users in and out by the rules; limits wrong passwords and registrations. */
export function createLogins(parts: LoginParts) {
  const { store, passwords, tokens, rules, clock } = parts
  const limitOf = (kind: string, what: string, most: () => number) =>
    createLoginLimit({ store: parts.failures, kind, what, most })
  const limit = limitOf('login', 'Too many failed login attempts', () => rules.limits.loginAttempts)
  const changes = limitOf('password', 'Too many wrong passwords', () => wrongPasswords)
  const newcomers = createRateLimit(registrations, parts.now)
  const listeners = new Set<() => void>()
  const ended = () => {
    for (const listener of listeners) listener()
  }

  return {
    limit,
    /** Cheap: one signature and one row, both cached; then synchronous too. The role is the store's of this moment. */
    verify(token: string): MaybePromise<Verified> {
      const claims = tokens.verify(token)
      if (typeof claims === 'string') return claims
      return whenThere(store.session(claims.sid), (live) => verified(claims, live))
    },
    /** When the login expires, in milliseconds since 1970; undefined once it has ended. */
    expiryOf: (session: string) =>
      whenThere(store.session(session), (live) => (live && live.expires_at > clock() ? live.expires_at : undefined)),
    /** Tells the listeners that logins may have ended. */
    sweep: ended,
    /** Calls the listener whenever logins may have ended; returns how to stop that. */
    onEnd(listener: () => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    /** Without an `address` nothing is limited. Throws `unauthenticated`, `rate_limited`, `forbidden`, `busy`. */
    async login(
      { username, password }: { username: string; password: string },
      address: string | undefined,
    ): Promise<LoginAnswer> {
      const attempt = address === undefined ? undefined : await limit.reserve(networkOf(address))
      const { account, matches } = await matched(username, password).catch((reason) => {
        attempt?.withdraw()
        throw reason
      })
      const who = account?.user.id ?? `?${nameKey(username)}`
      if (!account || !matches) {
        await attempt?.fail(who)
        await record('login', 'failed', { target: account?.user, address })
        throw wrongCredentials()
      }
      await attempt?.succeed(who)
      if (rules.singleUserMode && !(await parts.isDefaultAdministrator(account.user.id))) {
        await record('login', 'refused', { target: account.user, address })
        throw onlyTheAdministrator()
      }
      const answer = await begin(await strengthened(account, password))
      await record('login', 'ok', { actor: account.user, address })
      return answer
    },
    /** The first becomes the administrator. Throws `forbidden` without registration, `invalid` with all problems. */
    async register(newcomer: Newcomer, address: string | undefined): Promise<LoginAnswer> {
      if (!rules.allowRegistration && !(await store.isEmpty())) throw registrationIsOff()
      if (address !== undefined) newcomers.take(networkOf(address))
      return admit(newcomer, rules.allowRegistration ? undefined : registrationIsOff, 'register', address)
    },
    /** Registers the first user; throws `found` when there is one. */
    async setUp(newcomer: Newcomer, address: string | undefined): Promise<LoginAnswer> {
      if (!(await store.isEmpty())) throw alreadySetUp()
      return admit(newcomer, alreadySetUp, 'setup', address)
    },
    async logout(user: Named, session: string | undefined, address: string | undefined) {
      if (session !== undefined) await store.closeSession(session)
      ended()
      await record('logout', 'ok', { actor: user, address })
    },
    /** Ends every login of the user and begins a new one. */
    async changePassword(
      userId: string,
      current: string,
      next: string,
      address: string | undefined,
    ): Promise<LoginAnswer> {
      const problems = [...passwordProblems(next)]
      if (next === current) problems.push('password: must differ from the current one')
      refuse('The new password cannot be used', problems)
      const account = await store.byId(userId)
      if (!account) throw new AppError('not_found', 'The account was not found: its password is unchanged')
      const attempt = address === undefined ? undefined : await changes.reserve(userId)
      const matches = await passwords.matches(current, account.passwordHash).catch((reason) => {
        attempt?.withdraw()
        throw reason
      })
      if (!matches) {
        await attempt?.fail(userId)
        await record('password.change', 'failed', { actor: account.user, address })
        throw new AppError('invalid', 'Current password is incorrect')
      }
      await attempt?.succeed(userId)
      const changed = await store.setPassword(userId, await passwords.hash(next), false, clock())
      ended()
      if (!changed) throw new AppError('not_found', 'The account was not found: its password is unchanged')
      await record('password.change', 'ok', { actor: account.user, address })
      return begin(changed)
    },
    /** Ends the user's logins and refusals of logins; without a password it makes a random one, and returns it. */
    async resetPassword(
      { user }: Account,
      password: string | undefined,
    ): Promise<{ user: User; temporary: string | undefined }> {
      const temporary = password === undefined ? randomPassword() : undefined
      const next = password ?? temporary!
      refuse('The new password cannot be used', passwordProblems(next))
      const changed = await store.setPassword(user.id, await passwords.hash(next), true, clock())
      if (!changed) throw new AppError('not_found', 'There is no such user')
      await changes.releaseUser(user.id)
      await limit.releaseUser(user.id)
      ended()
      return { user: changed.user, temporary }
    },
  }

  /** The account of that name or address, and whether the password is its own; an unknown one takes as long. */
  async function matched(username: string, password: string) {
    const account = await store.byName(username)
    return { account, matches: await passwords.matches(password, account?.passwordHash) }
  }

  /** The login of a token with a valid signature, held against its session. */
  function verified({ sub, sid, ver, exp }: Claims, live: LiveSession | undefined): Verified {
    if (!live || live.user_id !== sub || live.token_version !== ver) return 'invalid'
    // The session's expiry counts: no token of ours says that it lasts longer.
    if (exp * 1000 > live.expires_at) return 'invalid'
    if (live.expires_at <= clock()) return 'expired'
    const caller = { id: live.user_id, username: live.username, role: live.role }
    return { caller, session: sid }
  }

  /** Adds an account and logs it in. `notFirst`, where given, is the failure when another account was first. */
  async function admit(
    { username, password, email = null }: Newcomer,
    notFirst: (() => AppError) | undefined,
    action: string,
    address: string | undefined,
  ): Promise<LoginAnswer> {
    const mail = email === '' ? null : email
    refuse('The account cannot be created', [
      ...usernameProblems(username),
      ...emailProblems(mail),
      ...passwordProblems(password),
      ...(await takenProblems(store, username, mail)),
    ])
    // Without a secret for its token the account could not be used: checked before it exists.
    tokens.check()
    const account = await store.insert(
      {
        id: parts.newId(),
        username,
        email: mail,
        passwordHash: await passwords.hash(password),
        role: 'user',
        mustChangePassword: false,
        createdAt: clock(),
      },
      notFirst !== undefined,
    )
    if (account === 'not_first') throw notFirst!()
    if (typeof account === 'string') throw taken(account)
    await record(action, 'ok', { actor: account.user, address })
    return begin(account)
  }

  /** Opens a session and writes its token. Throws when the account has changed since it was read. */
  async function begin({ user, tokenVersion, passwordHash }: Account): Promise<LoginAnswer> {
    const issued = Math.floor(clock() / 1000)
    const expires = issued + rules.tokenLifetime
    const session = { id: parts.newId(), userId: user.id, createdAt: clock(), expiresAt: expires * 1000 }
    const { id: sub, role } = user
    const token = await tokens.sign({ sub, sid: session.id, ver: tokenVersion, role, iat: issued, exp: expires })
    if (!(await store.openSession(session, passwordHash))) throw wrongCredentials()
    return { token, token_type: 'Bearer', expires_in: rules.tokenLifetime, expires_at: session.expiresAt, user }
  }

  /** The account with its password hashed at today's cost. */
  async function strengthened(account: Account, password: string): Promise<Account> {
    if (!passwords.isWeakHash(account.passwordHash)) return account
    const passwordHash = await passwords.hash(password)
    const isStored = await store.rehash(account.user.id, account.passwordHash, passwordHash)
    return isStored ? { ...account, passwordHash } : account
  }

  function record(
    action: string,
    outcome: 'ok' | 'failed' | 'refused',
    { actor, target, address }: { actor?: Named; target?: Named | undefined; address: string | undefined },
  ): Promise<void> {
    const who = { actor: actor?.id, actorName: actor?.username, target: target?.id, targetName: target?.username }
    return store.record({ at: clock(), action, outcome, ...who, address })
  }
}

/** Problems of a name and address that are taken. The insertion itself checks again. */
export async function takenProblems(
  store: AccountStore,
  username: string,
  email: string | null,
): Promise<readonly string[]> {
  const problems: string[] = []
  if (!username.includes('@') && (await store.byName(username))) problems.push(takenWords.username_taken)
  else if (await store.lookAlike(username)) problems.push(takenWords.username_alike)
  if (email?.includes('@') && (await store.byName(email))) problems.push(takenWords.email_taken)
  return problems
}

const takenWords: Readonly<Record<Taken, string>> = {
  username_taken: 'username: is taken',
  username_alike: 'username: looks like one that is taken, in letters of another script',
  email_taken: 'email: is taken',
}

/** The failure for a name or address that another registration took first. */
export function taken(which: Taken): AppError {
  const field = which === 'email_taken' ? 'email' : 'username'
  return new AppError('invalid', `That ${field} is taken`, { details: [takenWords[which]] })
}

/** Throws `invalid` with all problems, when there are any. */
export function refuse(message: string, problems: readonly string[]): void {
  if (problems.length > 0) throw new AppError('invalid', message, { details: problems })
}

/** The failure of every user but the default administrator in single-user mode. */
function onlyTheAdministrator(): AppError {
  return new AppError('forbidden', 'In single-user mode only the default administrator may log in')
}

function wrongCredentials(): AppError {
  return new AppError('unauthenticated', 'Invalid username or password')
}

function registrationIsOff(): AppError {
  return new AppError('forbidden', 'Registration is switched off', {
    details: ['An administrator can create the account'],
  })
}

function alreadySetUp(): AppError {
  return new AppError('found', 'There is an administrator already', { details: ['Log in, or register as a user'] })
}
