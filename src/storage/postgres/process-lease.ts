import { hasEnded, processMark } from '../shared/process-mark.ts'
import type { Database, Sql } from './sql.ts'

/** Seconds after which a process that does not renew its lease counts as ended, by the server's clock. */
const leaseSeconds = 30

/** Milliseconds between renewals. */
const renewal = 10_000

/** Leases that ended long ago tell nothing more; a process removes them as it begins its own. */
const removeOld = `DELETE FROM process_lease WHERE mark IN (
  SELECT mark FROM process_lease WHERE until < now() - interval '1 day' FOR UPDATE SKIP LOCKED)`

/**
 * The lease of this process: it shows the processes of all machines that this one still works on the rows which carry its mark. It
 * is renewed while something is held, and ends by itself where the process is killed or loses the database.
 */
export interface ProcessLease {
  readonly mark: string
  /** Begins or renews the lease, in the transaction that writes rows with its mark. */
  renew(sql: Sql): Promise<void>
  /** Renews it from now on until as many calls of `release` were made. */
  hold(): void
  release(): void
  /** Begins the lease unless it is renewed already, and renews it until it is closed. */
  keep(): Promise<void>
  /**
   * Tells which of these marks are those of processes that have ended. One of this machine is seen; the lease of another's tells
   * of its end once this process has held its own for as long: after a time without the database, others renew theirs first.
   */
  ended(marks: readonly string[]): Promise<(mark: string) => boolean>
  close(): void
}

/** `now` is in milliseconds, monotonic. */
export function createProcessLease(db: Database, now: () => number = () => performance.now()): ProcessLease {
  const mark = processMark()
  let held = 0
  let isKept = false
  let timer: NodeJS.Timeout | undefined
  let renewedAt = Number.NEGATIVE_INFINITY
  /** Since when it is renewed without a gap. */
  let heldSince = Number.POSITIVE_INFINITY
  const renew = async (sql: Sql) => {
    const asked = now()
    if (renewedAt === Number.NEGATIVE_INFINITY) await sql.run(removeOld)
    await sql.run(
      `INSERT INTO process_lease (mark, until) VALUES ($1, now() + make_interval(secs => ${leaseSeconds}))
         ON CONFLICT (mark) DO UPDATE SET until = excluded.until`,
      [mark],
    )
    if (asked - renewedAt > 2 * renewal) heldSince = now()
    renewedAt = asked
  }
  const lease: ProcessLease = {
    mark,
    renew,
    hold() {
      held++
      // One that fails is tried again with the next.
      timer ??= setInterval(() => renew(db).catch(() => {}), renewal).unref()
    },
    release() {
      if (--held > 0) return
      clearInterval(timer)
      timer = undefined
    },
    async keep() {
      if (isKept && now() - renewedAt < 2 * renewal) return
      await renew(db)
      if (isKept) return
      isKept = true
      lease.hold()
    },
    async ended(marks) {
      const asked = [...new Set(marks)]
      if (asked.length === 0) return () => false
      const rows = await db.rows<{ mark: string }>(
        'SELECT mark FROM process_lease WHERE mark = ANY($1) AND until > now()',
        [asked],
      )
      const running = new Set(rows.map((row) => row.mark))
      await lease.keep()
      const tells = now() - heldSince >= leaseSeconds * 1000
      return (one) => one !== mark && (hasEnded(one) || (tells && !running.has(one)))
    },
    close() {
      clearInterval(timer)
    },
  }
  return lease
}

/** A condition: the process with this mark still runs. */
export function isRunning(mark: string): string {
  return `EXISTS (SELECT 1 FROM process_lease WHERE process_lease.mark = ${mark} AND until > now())`
}
