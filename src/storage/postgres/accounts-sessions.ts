import type { AuditEntry, AuditQuery, AuditRecord, LiveSession, Session, UserCounts } from '../../accounts/users.ts'
import { auditColumns, auditCondition, dayMs, keptEntries, manyLogins, sweepAfterMs } from '../shared/account-rows.ts'
import type { Sql, Transaction } from './sql.ts'

/** Logins with their users as they are now, by their ids. */
export async function findSessions(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, LiveSession>> {
  const rows = await sql.rows<LiveSession & { id: string }>(
    `SELECT s.id, s.user_id, u.username, u.role, u.token_version, s.expires_at
     FROM login_session s JOIN account u ON u.id = s.user_id WHERE s.id = ANY($1)`,
    [ids],
  )
  return new Map(rows.map(({ id, ...session }) => [id, session]))
}

/** Opens a login, and sweeps old ones. False where the password was changed while it was being checked. */
export async function openSession(tx: Transaction, session: Session, passwordHash: string): Promise<boolean> {
  const { id, userId, createdAt, expiresAt } = session
  const [, opened] = await Promise.all([
    tx.run(
      `DELETE FROM login_session WHERE expires_at < $1
         OR (expires_at < $2 AND (SELECT count(*) FROM login_session) > ${manyLogins})`,
      [createdAt - sweepAfterMs, createdAt - dayMs],
    ),
    tx.run(
      `INSERT INTO login_session (id, user_id, created_at, expires_at)
       SELECT $1, id, $2, $3 FROM account WHERE id = $4 AND password_hash = $5`,
      [id, createdAt, expiresAt, userId, passwordHash],
    ),
  ])
  return opened > 0
}

/** Ends all logins of a user. */
export async function closeSessions(tx: Transaction, userId: string): Promise<void> {
  await tx.run('DELETE FROM login_session WHERE user_id = $1', [userId])
}

/** Accounts and logins by their numbers. */
export async function countAccounts(sql: Sql, now: number): Promise<UserCounts> {
  const counts = await sql.row<UserCounts>(
    `SELECT count(*) AS total_users,
       count(*) FILTER (WHERE role = 'admin') AS admins,
       count(*) FILTER (WHERE role = 'user') AS users,
       (SELECT count(*) FROM login_session WHERE expires_at > $1) AS active_sessions,
       count(*) FILTER (WHERE created_at > $2) AS created_last_7_days,
       count(*) FILTER (WHERE created_at > $3) AS created_last_30_days
     FROM account`,
    [now, now - 7 * dayMs, now - 30 * dayMs],
  )
  return counts!
}

/** Adds an entry to the audit table, of which the newest stay. */
export async function addEntry(sql: Sql, entry: AuditEntry): Promise<void> {
  const { at, action, outcome, actor, actorName, target, targetName, address } = entry
  await sql.run(
    `WITH added AS (
       INSERT INTO audit (at, action, actor, actor_name, target, target_name, address, outcome)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id)
     DELETE FROM audit USING added WHERE audit.id <= added.id - ${keptEntries}`,
    [at, action, actor ?? null, actorName ?? null, target ?? null, targetName ?? null, address ?? null, outcome],
  )
}

/** Entries of the audit table, the newest first, and how many the query chooses in all. */
export async function listEntries(sql: Sql, query: AuditQuery) {
  const values: (string | number)[] = []
  const where = auditCondition(query, (name) => `$${values.push(query[name]!)}`)
  const page = `LIMIT $${values.length + 1} OFFSET $${values.length + 2}`
  const [entries, counted] = await Promise.all([
    sql.rows<AuditRecord>(`SELECT ${auditColumns} FROM audit ${where} ORDER BY at DESC, id DESC ${page}`, [
      ...values,
      query.limit,
      query.offset,
    ]),
    sql.row<{ total: number }>(`SELECT count(*) AS total FROM audit ${where}`, values),
  ])
  return { entries, total: counted!.total }
}
