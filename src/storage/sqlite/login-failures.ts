import type { FailureRule, LoginFailureStore } from '../../accounts/login-failures.ts'
import { bootId } from '../shared/process-mark.ts'
import type { Database } from './connection.ts'

/** Milliseconds since the start of the machine: the same for all processes, and setting the date does not move it. */
function machineClock(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}

/** Failed logins in SQLite. */
export function createLoginFailureStore(db: Database, now: () => number = machineClock): LoginFailureStore {
  const boot = bootId()
  const refusal = db
    .prepare<[string, string, number], number>(
      'SELECT until FROM login_refusal WHERE subject = ? AND boot = ? AND until > ?',
    )
    .pluck()
  // A little later than now: another process was faster. By more than a window: a machine without boot ids was started anew.
  const counting = db
    .prepare<[string, string, number, number], number>(
      'SELECT at FROM login_failure WHERE subject = ? AND boot = ? AND at > ? AND at <= ? ORDER BY at',
    )
    .pluck()
  const insert = db.prepare<[string, string, string, number]>(
    'INSERT INTO login_failure (subject, user, boot, at) VALUES (?, ?, ?, ?)',
  )
  const refuse = db.prepare<[string, string, number]>(
    'INSERT OR REPLACE INTO login_refusal (subject, boot, until) VALUES (?, ?, ?)',
  )
  const forget = db.prepare<[string]>('DELETE FROM login_failure WHERE subject = ?')
  const endRefusal = db.prepare<[string]>('DELETE FROM login_refusal WHERE subject = ?')
  const ofUser = db
    .prepare<[string, string], string>(
      'SELECT DISTINCT subject FROM login_failure WHERE user = ? AND boot = ? ORDER BY subject',
    )
    .pluck()
  const ownOf = db.prepare<[string, string]>('SELECT 1 FROM login_failure WHERE subject = ? AND user = ? LIMIT 1')
  const forgetOwn = db.prepare<[string, string]>('DELETE FROM login_failure WHERE subject = ? AND user = ?')
  const expire = db.prepare<[number]>('DELETE FROM login_failure WHERE at <= ?')
  const expireRefusals = db.prepare<[number]>('DELETE FROM login_refusal WHERE until <= ?')
  const forgetBoots = [
    db.prepare<[string]>('DELETE FROM login_failure WHERE boot <> ?'),
    db.prepare<[string]>('DELETE FROM login_refusal WHERE boot <> ?'),
  ]
  let isSwept = false

  const read = (subject: string, now: number, { windowMs }: FailureRule) => {
    const refusedUntil = refusal.get(subject, boot, now) ?? 0
    return { refusedUntil, at: refusedUntil > 0 ? [] : counting.all(subject, boot, now - windowMs, now + windowMs) }
  }
  const fail = db.transaction((subject: string, user: string, now: number, rule: FailureRule) => {
    if (!isSwept) for (const statement of forgetBoots) statement.run(boot)
    isSwept = true
    expire.run(now - rule.windowMs)
    expireRefusals.run(now)
    const { at, refusedUntil } = read(subject, now, rule)
    if (refusedUntil > 0) return false
    insert.run(subject, user, boot, now)
    if (at.length + 1 >= rule.most) refuse.run(subject, boot, now + rule.windowMs)
    return true
  })
  const release = db.transaction((subject: string) => forget.run(subject).changes + endRefusal.run(subject).changes > 0)

  return {
    now,
    read: async (subject, now, rule) => read(subject, now, rule),
    fail: async (subject, user, now, rule) => fail.immediate(subject, user, now, rule),
    async forgive(subject, user, now, rule) {
      if (read(subject, now, rule).refusedUntil > 0) return false
      // A login without failures before it writes nothing.
      if (ownOf.get(subject, user)) forgetOwn.run(subject, user)
      return true
    },
    subjectsOf: async (user) => ofUser.all(user, boot),
    release: async (subject) => release.immediate(subject),
  }
}
