import { AppError } from '../errors.ts'
import { networkOf } from './addresses.ts'
import { createLoginLimit, type LoginLimit } from './login-limit.ts'
import { type Passwords, passwordProblems, randomPassword } from './passwords.ts'
import { createRateLimit } from './rate-limit.ts'
import type { Tokens } from './tokens.ts'
import {
  type Account,
  type AccountStore,
  emailProblems,
  nameKey,
  type Role,
  type Taken,
  type User,
  usernameProblems,
} from './users.ts'

/** What a login gives: RFC 6750's members, and who it is. `expires_in` is seconds, `expires_at` milliseconds since 1970. */
export interface LoginAnswer {
  readonly token: string
  readonly token_type: 'Bearer'
  readonly expires_in: number
  readonly expires_at: number
  readonly user: User
}

/** Whom a token stands for now, and until when; or why it stands for nobody. */
export type Verified =
  | {
      readonly caller: { readonly id: string; readonly username: string; readonly role: Role }
      readonly session: string
      readonly expiresAt: number
    }
  | 'invalid'
  | 'expired'

export interface Newcomer {
  readonly username: string
  readonly password: string
  readonly email?: string | null | undefined
}

export interface Logins {
  /** The limiter of login attempts, for what a face tells about it. */
  readonly limit: LoginLimit
  /** Synchronous and cheap: one signature and one row. The role is the store's of this moment; see `freshMs` there. */
  verify(token: string): Verified
  /** Until when the login lasts, in milliseconds since 1970; undefined once something has ended it. */
  expiryOf(session: string): number | undefined
  /** Says that logins may have ended by something else than this area's own deeds. */
  sweep(): void
  /** Calls the listener whenever something may have ended logins; returns how to stop that. */
  onEnd(listener: () => void): () => void
  /** `address` is undefined in process, where nothing is limited. Throws `unauthenticated`, `rate_limited`, `forbidden`, `busy`. */
  login(credentials: { username: string; password: string }, address: string | undefined): Promise<LoginAnswer>
  /** The first one becomes the administrator. Throws `forbidden` where registration is off, `invalid` with every problem. */
  register(newcomer: Newcomer, address: string | undefined): Promise<LoginAnswer>
  /** Registers the first user; throws `found` when there is one. */
  setUp(newcomer: Newcomer, address: string | undefined): Promise<LoginAnswer>
  logout(userId: string, session: string | undefined): void
  /** Ends every login of the user and begins a new one. */
  changePassword(userId: string, current: string, next: string, address: string | undefined): Promise<LoginAnswer>
  /** Ends every login of the user; without a password a random one is made, and returned. */
  resetPassword(account: Account, password: string | undefined): Promise<{ user: User; temporary: string | undefined }>
}

export interface LoginRules {
  readonly singleUserMode: boolean
  readonly allowRegistration: boolean
  /** Seconds. */
  readonly lifetime: number
}

export interface LoginParts {
  readonly store: AccountStore
  readonly passwords: Passwords
  readonly tokens: Tokens
  readonly rules: LoginRules
  readonly isDefaultAdministrator: (id: string) => boolean
  /** Milliseconds that only go forward. */
  readonly now: () => number
  /** Milliseconds since 1970. */
  readonly clock: () => number
  readonly newId: () => string
}

/** How many accounts one address may register: 120 a minute, which only a flood reaches. */
const registrations = { limit: 120, windowMs: 60_000 }

export function createLogins(parts: LoginParts): Logins {
  const { store, passwords, tokens, rules, clock } = parts
  const limit = createLoginLimit(parts.now)
  const changes = createLoginLimit(parts.now, 'Too many wrong passwords')
  const newcomers = createRateLimit(registrations, parts.now)
  const listeners = new Set<() => void>()
  const ended = () => {
    for (const listener of listeners) listener()
  }

  return {
    limit,
    verify(token) {
      const claims = tokens.verify(token)
      if (typeof claims === 'string') return claims
      const live = store.session(claims.sid)
      if (!live || live.user_id !== claims.sub || live.token_version !== claims.ver) return 'invalid'
      // The login's own end, whatever lifetime was set when it began: a token that says it lasts longer is not ours.
      if (claims.exp * 1000 > live.expires_at) return 'invalid'
      if (live.expires_at <= clock()) return 'expired'
      const caller = { id: live.user_id, username: live.username, role: live.role }
      return { caller, session: claims.sid, expiresAt: live.expires_at }
    },
    expiryOf(session) {
      const live = store.session(session)
      return live && live.expires_at > clock() ? live.expires_at : undefined
    },
    sweep: ended,
    onEnd(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    async login({ username, password }, address) {
      const attempt = address === undefined ? undefined : await limit.reserve(networkOf(address))
      const account = store.byName(username)
      const who = account?.user.id ?? `?${nameKey(username)}`
      const matches = await passwords.matches(password, account?.passwordHash).catch((reason) => {
        attempt?.withdraw()
        throw reason
      })
      if (!account || !matches) {
        attempt?.fail(who)
        record('login', 'failed', { target: account?.user.id, address })
        throw wrongCredentials()
      }
      attempt?.succeed(who)
      if (rules.singleUserMode && !parts.isDefaultAdministrator(account.user.id)) {
        record('login', 'refused', { target: account.user.id, address })
        throw onlyTheAdministrator()
      }
      const answer = await begin(await strengthened(account, password))
      record('login', 'ok', { actor: account.user.id, address })
      return answer
    },
    async register(newcomer, address) {
      if (!rules.allowRegistration && !store.isEmpty()) throw registrationIsOff()
      if (address !== undefined) newcomers.take(networkOf(address))
      return admit(newcomer, rules.allowRegistration ? undefined : registrationIsOff, 'register', address)
    },
    async setUp(newcomer, address) {
      if (!store.isEmpty()) throw alreadySetUp()
      return admit(newcomer, alreadySetUp, 'setup', address)
    },
    logout(userId, session) {
      if (session !== undefined) store.closeSession(session)
      record('logout', 'ok', { actor: userId })
      ended()
    },
    async changePassword(userId, current, next, address) {
      const problems = [...passwordProblems(next)]
      if (next === current) problems.push('password: must differ from the current one')
      refuse('The new password cannot be used', problems)
      const account = store.byId(userId)
      if (!account) throw new AppError('not_found', 'There is no account whose password could be changed')
      const attempt = address === undefined ? undefined : await changes.reserve(userId)
      const matches = await passwords.matches(current, account.passwordHash).catch((reason) => {
        attempt?.withdraw()
        throw reason
      })
      if (!matches) {
        attempt?.fail(userId)
        record('password.change', 'failed', { actor: userId, address })
        throw new AppError('invalid', 'Current password is incorrect')
      }
      attempt?.succeed(userId)
      const changed = store.setPassword(userId, await passwords.hash(next), false, clock())
      ended()
      if (!changed) throw new AppError('not_found', 'There is no account whose password could be changed')
      record('password.change', 'ok', { actor: userId, address })
      return begin(changed)
    },
    async resetPassword({ user }, password) {
      const temporary = password === undefined ? randomPassword() : undefined
      const next = password ?? temporary!
      refuse('The new password cannot be used', passwordProblems(next))
      const changed = store.setPassword(user.id, await passwords.hash(next), true, clock())
      if (!changed) throw new AppError('not_found', 'There is no such user')
      ended()
      return { user: changed.user, temporary }
    },
  }

  /** Adds an account and logs it in. `notFirst`, where given, is the failure when somebody else was first. */
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
      ...takenProblems(store, username, mail),
    ])
    // Without a secret for its token nobody could use the account: known before it exists.
    tokens.check()
    const account = store.insert(
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
    record(action, 'ok', { actor: account.user.id, address })
    return begin(account)
  }

  /** Opens a session and writes its token. Throws when the account has changed since it was read. */
  async function begin({ user, tokenVersion, passwordHash }: Account): Promise<LoginAnswer> {
    const issued = Math.floor(clock() / 1000)
    const expires = issued + rules.lifetime
    const session = { id: parts.newId(), userId: user.id, createdAt: clock(), expiresAt: expires * 1000 }
    const { id: sub, role } = user
    const token = await tokens.sign({ sub, sid: session.id, ver: tokenVersion, role, iat: issued, exp: expires })
    if (!store.openSession(session, passwordHash)) throw wrongCredentials()
    return { token, token_type: 'Bearer', expires_in: rules.lifetime, expires_at: session.expiresAt, user }
  }

  /** The account with its password hashed at today's cost. */
  async function strengthened(account: Account, password: string): Promise<Account> {
    if (!passwords.isWeakHash(account.passwordHash)) return account
    const passwordHash = await passwords.hash(password)
    return store.rehash(account.user.id, account.passwordHash, passwordHash) ? { ...account, passwordHash } : account
  }

  function record(
    action: string,
    outcome: 'ok' | 'failed' | 'refused',
    who: { actor?: string | undefined; target?: string | undefined; address?: string | undefined },
  ): void {
    store.record({ at: clock(), action, outcome, ...who })
  }
}

/** Names and addresses that somebody has already. The insertion itself checks again. */
export function takenProblems(store: AccountStore, username: string, email: string | null): readonly string[] {
  const problems: string[] = []
  if (!username.includes('@') && store.byName(username)) problems.push(takenWords.username_taken)
  else if (store.lookAlike(username)) problems.push(takenWords.username_alike)
  if (email?.includes('@') && store.byName(email)) problems.push(takenWords.email_taken)
  return problems
}

const takenWords: Readonly<Record<Taken, string>> = {
  username_taken: 'username: is taken',
  username_alike: 'username: looks like one that is taken, in letters of another script',
  email_taken: 'email: is taken',
}

/** The failure for a name or address that somebody else was faster to take. */
export function taken(which: Taken): AppError {
  const field = which === 'email_taken' ? 'email' : 'username'
  return new AppError('invalid', `That ${field} is taken`, { details: [takenWords[which]] })
}

/** Throws `invalid` with all problems, when there are any. */
export function refuse(message: string, problems: readonly string[]): void {
  if (problems.length > 0) throw new AppError('invalid', message, { details: problems })
}

/** The failure of everybody but the default administrator in single-user mode. */
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
