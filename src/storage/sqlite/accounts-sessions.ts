import type { AuditEntry, AuditQuery, AuditRecord, LiveSession, Session, UserCounts } from '../../accounts/users.ts'
import { auditColumns, auditCondition, dayMs, manyLogins, sweepAfterMs } from '../shared/account-rows.ts'
import type { Database } from './connection.ts'

/** The statements about logins and the audit table. */
export function sessionStatements(db: Database) {
  const live = db.prepare<[string], LiveSession>(
    `SELECT s.user_id, u.username, u.role, u.token_version, s.expires_at
     FROM login_session s JOIN user u ON u.id = s.user_id WHERE s.id = ?`,
  )
  // No session is opened where the password was changed while it was being checked.
  const openRow = db.prepare<[Session & { passwordHash: string }]>(
    `INSERT INTO login_session (id, user_id, created_at, expires_at)
     SELECT :id, id, :createdAt, :expiresAt FROM user WHERE id = :userId AND password_hash = :passwordHash`,
  )
  const closeRow = db.prepare<[string]>('DELETE FROM login_session WHERE id = ?')
  const closeRows = db.prepare<[string]>('DELETE FROM login_session WHERE user_id = ?')
  const sweep = db.prepare<{ long: number; day: number }>(
    `DELETE FROM login_session WHERE expires_at < :long
       OR (expires_at < :day AND (SELECT count(*) FROM login_session) > ${manyLogins})`,
  )
  const auditRow = db.prepare(
    `INSERT INTO audit (at, action, actor, actor_name, target, target_name, address, outcome)
     VALUES (:at, :action, :actor, :actorName, :target, :targetName, :address, :outcome)`,
  )
  const prune = db.prepare<[number]>('DELETE FROM audit WHERE at < ?')
  const counted = db.prepare<{ now: number; week: number; month: number }, UserCounts>(`
    SELECT count(*) AS total_users,
      count(*) FILTER (WHERE role = 'admin') AS admins,
      count(*) FILTER (WHERE role = 'user') AS users,
      (SELECT count(*) FROM login_session WHERE expires_at > :now) AS active_sessions,
      count(*) FILTER (WHERE created_at > :week) AS created_last_7_days,
      count(*) FILTER (WHERE created_at > :month) AS created_last_30_days
    FROM user`)
  const open = db.transaction((session: Session, passwordHash: string) => {
    sweep.run({ long: session.createdAt - sweepAfterMs, day: session.createdAt - dayMs })
    return openRow.run({ ...session, passwordHash }).changes > 0
  })

  return {
    open: (session: Session, passwordHash: string) => open.immediate(session, passwordHash),
    find: (id: string) => live.get(id),
    close: (id: string) => closeRow.run(id).changes > 0,
    closeAll: (userId: string) => void closeRows.run(userId),
    counts: (now: number) => counted.get({ now, week: now - 7 * dayMs, month: now - 30 * dayMs })!,
    record: ({ at, action, outcome, actor, actorName, target, targetName, address }: AuditEntry) =>
      void auditRow.run({
        at,
        action,
        outcome,
        actor: actor ?? null,
        actorName: actorName ?? null,
        target: target ?? null,
        targetName: targetName ?? null,
        address: address ?? null,
      }),
    audit(query: AuditQuery) {
      const where = auditCondition(query, (name) => `:${name}`)
      const entries = db
        .prepare<[AuditQuery], AuditRecord>(
          `SELECT ${auditColumns} FROM audit ${where} ORDER BY at DESC, id DESC LIMIT :limit OFFSET :offset`,
        )
        .all(query)
      const total = db.prepare<[AuditQuery], number>(`SELECT count(*) FROM audit ${where}`).pluck().get(query)
      return { entries, total: total! }
    },
    pruneAudit: (before: number) => void prune.run(before),
  }
}
