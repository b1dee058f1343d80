import { processMark } from '../shared/process-mark.ts'
import type { Database, Sql } from './sql.ts'

/** Seconds after which a process that does not renew its lease counts as ended, by the server's clock. */
const leaseSeconds = 30

/** Milliseconds between renewals. */
const renewal = 10_000

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
}

export function createProcessLease(db: Database): ProcessLease {
  const mark = processMark()
  let held = 0
  let timer: NodeJS.Timeout | undefined
  const renew = async (sql: Sql) => {
    await sql.run(
      `INSERT INTO process_lease (mark, until) VALUES ($1, now() + make_interval(secs => ${leaseSeconds}))
         ON CONFLICT (mark) DO UPDATE SET until = excluded.until`,
      [mark],
    )
  }
  return {
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
  }
}

/** A condition: the process with this mark still runs. */
export function isRunning(mark: string): string {
  return `EXISTS (SELECT 1 FROM process_lease WHERE process_lease.mark = ${mark} AND until > now())`
}
