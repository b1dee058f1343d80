import type { LiveSession, Session, UserCounts } from '../../accounts/accounts.ts'
import { among, row, rows, run, sql, together, type Work, word } from '../port/port.ts'
import { dayMs, manyLogins, sweepAfterMs } from '../shared/account-rows.ts'

export const account = word('user', 'account')

/** Logins with their users as they are now, by their ids. */
export function* findSessions(ids: readonly string[]): Work<ReadonlyMap<string, LiveSession>> {
  const found = yield* rows<LiveSession & { id: string }>(
    sql`SELECT s.id, s.user_id, u.username, u.role, u.token_version, s.expires_at
        FROM login_session s JOIN ${account} u ON u.id = s.user_id WHERE s.id ${among(ids)}`,
  )
  return new Map(found.map(({ id, ...session }) => [id, session]))
}

/** Opens a login, and sweeps old ones. False where the password was changed while it was being checked. */
export function* openSession(session: Session, passwordHash: string): Work<boolean> {
  const { id, userId, createdAt, expiresAt } = session
  const [, opened] = yield* together(
    run(
      sql`DELETE FROM login_session WHERE expires_at < ${createdAt - sweepAfterMs}
            OR (expires_at < ${createdAt - dayMs} AND (SELECT count(*) FROM login_session) > ${manyLogins})`,
    ),
    run(
      sql`INSERT INTO login_session (id, user_id, created_at, expires_at)
          SELECT ${id}, id, ${createdAt}, ${expiresAt} FROM ${account} WHERE id = ${userId}
            AND password_hash = ${passwordHash}`,
    ),
  )
  return opened > 0
}

/** Ends a login; whether it was there. */
export function* closeSession(id: string): Work<boolean> {
  return (yield* run(sql`DELETE FROM login_session WHERE id = ${id}`)) > 0
}

/** Ends all logins of a user. */
export function* closeSessions(userId: string): Work<void> {
  yield* run(sql`DELETE FROM login_session WHERE user_id = ${userId}`)
}

/** Accounts and logins by their numbers. */
export function* countAccounts(now: number): Work<UserCounts> {
  const counts = yield* row<UserCounts>(
    sql`SELECT count(*) AS total_users,
          count(*) FILTER (WHERE role = 'admin') AS admins,
          count(*) FILTER (WHERE role = 'user') AS users,
          (SELECT count(*) FROM login_session WHERE expires_at > ${now}) AS active_sessions,
          count(*) FILTER (WHERE created_at > ${now - 7 * dayMs}) AS created_last_7_days,
          count(*) FILTER (WHERE created_at > ${now - 30 * dayMs}) AS created_last_30_days
        FROM ${account}`,
  )
  return counts!
}
