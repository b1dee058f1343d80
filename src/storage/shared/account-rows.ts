import { type Account, lookOf, type NewAccount, nameKey, type User } from '../../accounts/accounts.ts'

/** A row of the table of accounts; a database without booleans has 0 and 1 in their place. */
export interface UserRow extends User {
  readonly username_key: string
  readonly email_key: string | null
  readonly password_hash: string
  readonly must_change_password: 0 | 1 | boolean
  readonly token_version: number
}

export function accountOf(row: UserRow | undefined): Account | undefined {
  return (
    row && {
      user: userOf(row),
      passwordHash: row.password_hash,
      mustChangePassword: Boolean(row.must_change_password),
      tokenVersion: row.token_version,
    }
  )
}

/** A user without secrets. */
export function userOf({ id, username, email, role, created_at, updated_at }: UserRow): User {
  return { id, username, email, role, created_at, updated_at }
}

/** The forms in which name and address are compared. */
export function keysOf({ username, email }: Pick<NewAccount, 'username' | 'email'>) {
  return {
    usernameKey: nameKey(username),
    usernameLook: lookOf(username),
    emailKey: email === null ? null : nameKey(email),
  }
}

/** Milliseconds. */
export const dayMs = 86_400_000

/** How long an expired login stays before it is swept: a clock set forward a year by mistake must end no login. Milliseconds. */
export const sweepAfterMs = 400 * dayMs

/** Logins beyond which those that expired a day ago are swept: rows. */
export const manyLogins = 10_000

/** Entries of the audit table that are kept, the newest: failed logins must not fill a disk. */
export const keptEntries = 100_000
