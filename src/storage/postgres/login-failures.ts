import type { FailureRule, Failures, LoginFailureStore } from '../../accounts/login-failures.ts'
import type { Context } from './context.ts'
import type { Sql, Transaction } from './sql.ts'

/** The newest rows of each table that are kept. A flood of fresh addresses pushes out none that is refused. */
const most = 50_000

/** Failed logins in PostgreSQL, which count over all machines by its server's clock. */
export function createLoginFailureStore({ db }: Context): LoginFailureStore {
  return {
    async now() {
      const clock = await db.row<{ now: number }>(
        'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now',
      )
      return clock!.now
    },
    read: (subject, now, rule) => read(db, subject, now, rule),
    fail: (subject, user, now, rule) =>
      db.transaction(async (tx) => {
        await lock(tx, subject)
        const { at, refusedUntil } = await read(tx, subject, now, rule)
        if (refusedUntil > 0) return false
        await Promise.all([
          count(tx, subject, user, now),
          ...(at.length + 1 < rule.most ? [] : refuse(tx, subject, now + rule.windowMs)),
          sweep(tx, 'login_failure', 'at <= $1 OR at > $2', [now - rule.windowMs, now + rule.windowMs]),
          sweep(tx, 'login_refusal', 'until <= $1 OR until > $2', [now, now + 2 * rule.windowMs]),
        ])
        return true
      }),
    async forgive(subject, user, now, rule) {
      const own = 'login_failure WHERE subject = $1 AND user_digest = $2'
      const [{ refusedUntil }, any] = await Promise.all([
        read(db, subject, now, rule),
        db.row(`SELECT 1 FROM ${own} LIMIT 1`, [subject, user]),
      ])
      if (refusedUntil > 0) return false
      // A login without failures before it writes nothing.
      if (any) await db.run(`DELETE FROM ${own}`, [subject, user])
      return true
    },
    async subjectsOf(user) {
      const rows = await db.rows<{ subject: string }>(
        'SELECT DISTINCT subject FROM login_failure WHERE user_digest = $1 ORDER BY subject',
        [user],
      )
      return rows.map(({ subject }) => subject)
    },
    release: (subject) =>
      db.transaction(async (tx) => {
        await lock(tx, subject)
        const removed = await Promise.all(
          ['login_failure', 'login_refusal'].map((table) =>
            tx.run(`DELETE FROM ${table} WHERE subject = $1`, [subject]),
          ),
        )
        return removed.some((count) => count > 0)
      }),
  }
}

/** The failures of one subject are counted one after the other. */
async function lock(tx: Transaction, subject: string): Promise<void> {
  await tx.row('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`login failure of ${subject}`])
}

/**
 * The failures that count, in one statement: between two, one could become a refusal. Another process may
 * have counted a moment later than now; a time that lies further ahead than a window is from before the server's clock was
 * set back, and counts no more.
 */
async function read(sql: Sql, subject: string, now: number, { windowMs }: FailureRule): Promise<Failures> {
  const found = await sql.row<{ until: number | null; at: number[] }>(
    `SELECT (SELECT until FROM login_refusal WHERE subject = $1 AND until > $2 AND until <= $5) AS until,
       ARRAY(SELECT at::float8 FROM login_failure WHERE subject = $1 AND at > $3 AND at <= $4 ORDER BY at) AS at`,
    [subject, now, now - windowMs, now + windowMs, now + 2 * windowMs],
  )
  const refusedUntil = found!.until ?? 0
  return { refusedUntil, at: refusedUntil > 0 ? [] : found!.at }
}

async function count(tx: Transaction, subject: string, user: string, now: number): Promise<void> {
  await tx.run('INSERT INTO login_failure (subject, user_digest, at) VALUES ($1, $2, $3)', [subject, user, now])
}

function refuse(tx: Transaction, subject: string, until: number): readonly Promise<unknown>[] {
  return [
    tx.run('DELETE FROM login_refusal WHERE subject = $1', [subject]),
    tx.run('INSERT INTO login_refusal (subject, until) VALUES ($1, $2)', [subject, until]),
  ]
}

/** Removes rows that are over, and the oldest of too many; those that another process is about to remove are left to it. */
async function sweep(tx: Transaction, table: string, isOver: string, values: readonly number[]): Promise<void> {
  await tx.run(
    `DELETE FROM ${table} WHERE id IN (
       SELECT id FROM ${table} WHERE ${isOver} OR id <= (SELECT max(id) FROM ${table}) - ${most}
       FOR UPDATE SKIP LOCKED)`,
    values,
  )
}
