import { isPrintableLine } from '../formats/formats.ts'

export type Role = 'admin' | 'user'

/** A user without secrets: never a hash. Times are milliseconds since 1970 UTC. */
export interface User {
  readonly id: string
  readonly username: string
  readonly email: string | null
  readonly role: Role
  readonly created_at: number
  readonly updated_at: number
}

export interface Account {
  readonly user: User
  readonly passwordHash: string
  /** True until the user has chosen a password of their own. */
  readonly mustChangePassword: boolean
  /** Counts the changes that end every login: a new password, a new role. Tokens carry it. */
  readonly tokenVersion: number
}

/** The role of the first account is ignored: it is an administrator's. */
export interface NewAccount
  extends Pick<User, 'id' | 'username' | 'email' | 'role'>,
    Pick<Account, 'passwordHash' | 'mustChangePassword'> {
  readonly createdAt: number
}

export type AccountChange = Partial<Pick<User, 'username' | 'email' | 'role'>>

export interface UserQuery {
  readonly limit: number
  readonly offset: number
  /** A part of the name or address, in any case. */
  readonly q?: string | undefined
}

export interface UserCounts {
  readonly total_users: number
  readonly admins: number
  readonly users: number
  readonly active_sessions: number
  readonly created_last_7_days: number
  readonly created_last_30_days: number
}

/** A login that lasts until `expiresAt`, unless something ends it before. */
export interface Session {
  readonly id: string
  readonly userId: string
  readonly createdAt: number
  readonly expiresAt: number
}

/** The session of a token and its user, in one row. */
export interface LiveSession {
  readonly user_id: string
  readonly username: string
  readonly role: Role
  readonly token_version: number
  readonly expires_at: number
}

/** Something that was done: by whom, to what, from where. Ids, addresses, and names of users and keys; nothing else that was typed in. */
export interface AuditEntry {
  readonly at: number
  readonly action: string
  /** The id of a user, or `local` for the owner of the data folder. */
  readonly actor?: string | undefined
  /** The user's name then, which outlives the user. */
  readonly actorName?: string | undefined
  readonly target?: string | undefined
  /** The name then of a target that is a user or a key. */
  readonly targetName?: string | undefined
  /** Undefined for a command on this machine. */
  readonly address?: string | undefined
  readonly outcome: 'ok' | 'failed' | 'refused'
}

/** Chooses entries of the audit table. Times are milliseconds since 1970, both included. */
export interface AuditQuery {
  readonly actor?: string | undefined
  /** An action, or the area of several: `users` for `users.create` and its like. */
  readonly action?: string | undefined
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly limit: number
  readonly offset: number
}

export interface AuditRecord {
  readonly at: number
  readonly actor: string | null
  readonly actor_name: string | null
  readonly action: string
  readonly subject: string | null
  readonly subject_name: string | null
  readonly address: string | null
  readonly outcome: AuditEntry['outcome']
}

/** `username_alike`: it could be taken for a name in another script. */
export type Taken = 'username_taken' | 'username_alike' | 'email_taken'

/**
 * Keeps accounts. Every method is one transaction that is on the disk when it resolves; the checks that a change needs
 * (a name is free, an administrator is left) are part of it. Names are compared by `nameKey`.
 */
export interface AccountStore {
  /** True while there is no user. */
  isEmpty(): Promise<boolean>
  /** Adds an account; the first becomes an administrator and owns all local rows. With `onlyFirst`, only into an empty store. */
  insert(account: NewAccount, onlyFirst: boolean): Promise<Account | Taken | 'not_first'>
  byId(id: string): Promise<Account | undefined>
  /** By name, or by address where the text holds an @. */
  byName(text: string): Promise<Account | undefined>
  /** The account with a name that looks the same in another script. */
  lookAlike(username: string): Promise<Account | undefined>
  /** In the order of creation, ties by id. */
  list(query: UserQuery): Promise<{ readonly users: readonly User[]; readonly total: number }>
  /** A change of role ends the user's logins. */
  update(id: string, change: AccountChange, now: number): Promise<Account | Taken | 'absent' | 'last_admin'>
  /** Ends the user's logins. */
  setPassword(id: string, passwordHash: string, mustChange: boolean, now: number): Promise<Account | undefined>
  /** The same password at a higher cost: ends nothing. False when the password is another by now. */
  rehash(id: string, before: string, after: string): Promise<boolean>
  /** Removes the account with its logins, personas, memories and conversations. */
  remove(id: string): Promise<'removed' | 'absent' | 'last_admin'>
  counts(now: number): Promise<UserCounts>
  /** The administrator of that name, else the oldest. */
  administrator(preferred?: string): Promise<Account | undefined>
  /** False, and nothing opened, when the user is gone or has another password by now. */
  openSession(session: Session, passwordHash: string): Promise<boolean>
  /**
   * The login as it is now, also after a change by another process. Synchronous when it was read before and nothing was
   * written since, so that a request with a known token waits for nothing.
   */
  session(id: string): MaybePromise<LiveSession | undefined>
  /** True when there was one. */
  closeSession(id: string): Promise<boolean>
  /** Adds an entry to the audit table, which keeps the newest 100,000. */
  record(entry: AuditEntry): Promise<void>
  /** The newest first; `total` counts all that the query chooses. */
  audit(query: AuditQuery): Promise<{ readonly entries: readonly AuditRecord[]; readonly total: number }>
  /** Removes the entries from before a time in milliseconds since 1970. */
  pruneAudit(before: number): Promise<void>
}

/** A value that is there at once where it can be: the hot path awaits nothing. */
export type MaybePromise<T> = T | Promise<T>

/** Goes on with a value, at once where it is there. */
export function whenThere<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** The form in which names and addresses are compared: one user cannot pass for another by case or by a look-alike width. */
export function nameKey(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

/** Problems of a username; none when it can be used. */
export function usernameProblems(username: string): readonly string[] {
  const length = [...username].length
  if (length < 1 || length > 64) return ['username: must be 1 to 64 characters long']
  if (username.includes('@')) return ['username: must not hold @, which marks an e-mail address']
  // Some letters and marks show nothing, such as the Hangul filler: a name with one looks like another.
  if (/\p{Default_Ignorable_Code_Point}/u.test(username)) return ['username: must not hold invisible characters']
  if (!/^[\p{L}\p{N}_](?:[\p{L}\p{M}\p{N}._+ -]*[\p{L}\p{M}\p{N}_+-])?$/u.test(username))
    return ['username: may hold letters, digits, and . _ + - or spaces between them']
  return []
}

/** Problems of an e-mail address; only a message to it would tell whether it is in use. */
export function emailProblems(email: string | null): readonly string[] {
  if (
    email === null ||
    (email.length <= 254 && isPrintableLine(email) && /^[^\s@\x00-\x1f\x7f]+@[^\s@\x00-\x1f\x7f]+$/.test(email))
  )
    return []
  return ['email: must be an address such as ada@example.org']
}
