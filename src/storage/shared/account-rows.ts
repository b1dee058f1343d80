import { lookOf } from '../../accounts/look-alikes.ts'
import { type Account, type AuditQuery, type NewAccount, nameKey, type User } from '../../accounts/users.ts'

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

/** The columns of an entry of the audit table as it is read. */
export const auditColumns =
  'at, actor, actor_name, action, target AS subject, target_name AS subject_name, address, outcome'

/** The condition on the audit table that a query makes, over parameters that `parameter` names; empty for all entries. */
export function auditCondition(
  { actor, action, since, until }: Omit<AuditQuery, 'limit' | 'offset'>,
  parameter: (name: 'actor' | 'action' | 'since' | 'until') => string,
): string {
  const conditions: string[] = []
  if (actor !== undefined) conditions.push(`actor = ${parameter('actor')}`)
  if (action !== undefined) {
    // Of an area: what begins with its name and a dot, after which a slash is the next character.
    const named = parameter('action')
    conditions.push(`(action = ${named} OR (action >= ${named} || '.' AND action < ${named} || '/'))`)
  }
  if (since !== undefined) conditions.push(`at >= ${parameter('since')}`)
  if (until !== undefined) conditions.push(`at <= ${parameter('until')}`)
  return conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''
}
