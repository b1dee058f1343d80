import type { FailureRule, Failures, LoginFailureStore } from '../../accounts/accounts.ts'
import {
  nothing,
  row,
  rows,
  run,
  type Statement,
  type StoreDatabase,
  skipLocked,
  sql,
  takeTurn,
  together,
  type Work,
  word,
} from '../port/port.ts'
import { bootId } from '../shared/process-mark.ts'

/** The clock of a machine that counts its failures alone. */
export interface MachineClock {
  /** Milliseconds since the start of the machine: the same for all processes, and setting the date does not move it. */
  readonly now: () => number
  /** That start; rows of earlier ones do not count. */
  readonly boot: string
}

export function machineClock(): MachineClock {
  return { now: () => Number(process.hrtime.bigint() / 1_000_000n), boot: bootId() }
}

/** The newest rows of each table that are kept. A flood of fresh addresses pushes out none that is refused. */
const most = 50_000

const userDigest = word('user', 'user_digest')

/** Failed logins. Without the clock of a machine they count over all machines, by the clock of the database's server. */
export function createLoginFailureStore(db: StoreDatabase, clock?: MachineClock): LoginFailureStore {
  const isOwn = clock ? sql`boot = ${clock.boot}` : sql`true`
  const [bootColumn, boot] = clock ? [sql`, boot`, sql`, ${clock.boot}`] : [sql``, sql``]

  /**
   * The failures that count, in one statement: between two, one could become a refusal. Another process may have counted a
   * moment later than now; a time further ahead than a window is from before the clock was set back, and counts no more.
   */
  function* read(subject: string, now: number, { windowMs }: FailureRule): Work<Failures> {
    const found = yield* rows<{ until: number; at: number }>(
      sql`SELECT until, 0 AS at FROM login_refusal
            WHERE subject = ${subject} AND ${isOwn} AND until > ${now} AND until <= ${now + 2 * windowMs}
          UNION ALL SELECT 0, at FROM login_failure
            WHERE subject = ${subject} AND ${isOwn} AND at > ${now - windowMs} AND at <= ${now + windowMs} ORDER BY at`,
    )
    const refusedUntil = found.find(({ until }) => until > 0)?.until ?? 0
    return { refusedUntil, at: refusedUntil > 0 ? [] : found.map(({ at }) => at) }
  }

  function* fail(subject: string, user: string, now: number, rule: FailureRule): Work<boolean> {
    const [, { at, refusedUntil }] = yield* together(takeTurn(`login failure of ${subject}`), read(subject, now, rule))
    if (refusedUntil > 0) return false
    const { windowMs } = rule
    yield* together(
      run(
        sql`INSERT INTO login_failure (subject, ${userDigest}, at${bootColumn}) VALUES (${subject}, ${user}, ${now}${boot})`,
      ),
      at.length + 1 < rule.most ? nothing() : refuse(subject, now + windowMs),
      sweep('login_failure', sql`at <= ${now - windowMs} OR at > ${now + windowMs}`),
      sweep('login_refusal', sql`until <= ${now} OR until > ${now + 2 * windowMs}`),
    )
    return true
  }

  function* refuse(subject: string, until: number): Work<void> {
    yield* together(
      run(sql`DELETE FROM login_refusal WHERE subject = ${subject}`),
      run(sql`INSERT INTO login_refusal (subject, until${bootColumn}) VALUES (${subject}, ${until}${boot})`),
    )
  }

  return {
    now: clock ? clock.now : () => db.read(databaseTime()),
    read: async (subject, now, rule) => db.read(read(subject, now, rule)),
    fail: (subject, user, now, rule) => db.write(() => fail(subject, user, now, rule)),
    async forgive(subject, user, now, rule) {
      const own = sql`login_failure WHERE subject = ${subject} AND ${userDigest} = ${user}`
      const [{ refusedUntil }, any] = await db.read(
        together(read(subject, now, rule), row(sql`SELECT 1 FROM ${own} LIMIT 1`)),
      )
      if (refusedUntil > 0) return false
      // A login without failures before it writes nothing.
      if (any) await db.run(sql`DELETE FROM ${own}`)
      return true
    },
    async subjectsOf(user) {
      const found = await db.read(
        rows<{ subject: string }>(
          sql`SELECT DISTINCT subject FROM login_failure WHERE ${userDigest} = ${user} AND ${isOwn} ORDER BY subject`,
        ),
      )
      return found.map(({ subject }) => subject)
    },
    release: (subject) => db.write(() => release(subject)),
  }
}

function* databaseTime(): Work<number> {
  const clock = yield* row<{ now: number }>(
    sql`SELECT CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS bigint) AS now`,
  )
  return clock!.now
}

function* release(subject: string): Work<boolean> {
  const [, failures, refusals] = yield* together(
    takeTurn(`login failure of ${subject}`),
    run(sql`DELETE FROM login_failure WHERE subject = ${subject}`),
    run(sql`DELETE FROM login_refusal WHERE subject = ${subject}`),
  )
  return failures + refusals > 0
}

/** Removes rows that are over, and the oldest of too many; those that another process is about to remove are left to it. */
function* sweep(name: string, isOver: Statement): Work<void> {
  const table = word(name)
  yield* run(
    sql`DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table}
          WHERE ${isOver} OR id <= (SELECT max(id) FROM ${table}) - ${most} ${skipLocked})`,
  )
}
