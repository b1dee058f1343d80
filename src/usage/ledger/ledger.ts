import type { Ending, Purpose } from '../../chat/metering.ts'
import type { Amounts, Cost } from '../usage.ts'

/** One attempt, as it is booked. Unique by request and attempt. */
export interface LedgerRow {
  /** Unique over all processes: a random part of the process, and a counter. */
  readonly request: string
  /** From 1 on. */
  readonly attempt: number
  /** Milliseconds since 1970 UTC, at its end. */
  readonly at: number
  /** The day of that moment in the ledger's time zone: `2026-11-22`. */
  readonly day: string
  readonly user: string
  readonly key: string | null
  /** Null for this machine's own models. */
  readonly plugin: string | null
  readonly model: string
  readonly purpose: Purpose
  readonly outcome: Exclude<Ending, 'unsent'>
  /** Tokens were counted by us, since the provider told none. */
  readonly estimated: boolean
  /** The provider goes on and bills more than was delivered: an abort does not stop it. */
  readonly lowerBound: boolean
  readonly amounts: Amounts
  readonly cost: Cost
  readonly durationMs: number
  /** The reservation in the budgets that this row settles. */
  readonly reservation?: string | undefined
}

/** Rows noted on the disk before they are in the database: a file of this process alone. */
export interface UsageJournal {
  /** The random part of this process in the ids of its requests. */
  readonly process: string
  /**
   * Notes a row: it survives the end of the process, not a power cut. Synchronous, some microseconds. Throws `io` where
   * the disk is full.
   */
  note(row: LedgerRow): void
  /** Forgets all noted rows, which are in the database now. */
  clear(): void
  /** The rows of processes that ended before they had written them; each list is forgotten once its `done` is called. */
  leftBehind(): AsyncIterable<{ readonly rows: readonly LedgerRow[]; done(): void }>
  close(): void
}

/** The columns by which usage is summed up. */
export type UsageColumn = 'day' | 'model' | 'key' | 'user' | 'plugin'

export interface UsageQuery {
  readonly by: readonly UsageColumn[]
  /** Days as `2026-11-22`, both inclusive, in the ledger's time zone. */
  readonly since: string
  readonly until: string
  readonly user?: string | undefined
  readonly key?: string | undefined
  readonly model?: string | undefined
  readonly plugin?: string | undefined
}

/** Sums over attempts. Costs are nano-USD over those with a price; `unpriced` counts the others. */
export interface UsageSums {
  readonly requests: number
  readonly failed: number
  readonly input_tokens: number
  readonly cached_tokens: number
  readonly cache_write_tokens: number
  readonly output_tokens: number
  readonly reasoning_tokens: number
  readonly characters: number
  readonly cost_nano: number
  readonly unpriced: number
  readonly estimated: number
}

/** A group: the columns that were asked for, and its sums. `key` is null for logins, `plugin` for this machine. */
export type UsageGroup = UsageSums & Readonly<Partial<Record<UsageColumn, string | null>>>

/** Differences between ledger and rollup that `check` found: none where all is well. One line each. */
export type LedgerProblems = readonly string[]

/** Rows by time or by the columns of a query. */
export type RowQuery = Omit<UsageQuery, 'by'>

/** Keeps the ledger: rows, and their sums by day, user, key, plugin and model, always written together. */
export interface LedgerStore {
  /** Adds rows in one transaction; those that are there already change nothing. Resolves with the number of new ones. */
  append(rows: readonly LedgerRow[]): Promise<number>
  /** Sums by day and the other columns, in the order of the columns. */
  sums(query: UsageQuery): Promise<readonly UsageGroup[]>
  /** The rows of a time in their order, in batches. */
  rows(query: RowQuery): Promise<AsyncIterable<readonly LedgerRow[]>>
  /** Compares the rows with their sums, for the days whose rows are all there. */
  check(): Promise<LedgerProblems>
  /** Removes the rows of the days before that one, in slices; sums stay. Resolves with their number. */
  prune(before: string): Promise<number>
}

/** Rows that wait for the database, at the most: then the oldest are left to the journal alone. */
const mostWaiting = 100_000

/** A transaction is due with so many rows, or so long after the first: it blocks for less than a millisecond. */
const batchRows = 32
const batchMs = 200

export interface Ledger {
  /** Books an attempt: noted in the journal at once, in the database within a fifth of a second. */
  book(row: LedgerRow): void
  /** The next id of a request. */
  nextRequest(): string
  /** Writes all that waits, and rows that ended processes left in their journals. Rejects when the database refuses them. */
  settle(): Promise<void>
  /** The failure of the last write, such as a full disk; undefined while all is well. */
  trouble(): Error | undefined
  close(): Promise<void>
}

export interface LedgerParts {
  readonly journal: UsageJournal
  /** Undefined where this installation has no database yet: then rows stay in the journal for the next process that has. */
  readonly store: Pick<LedgerStore, 'append'> | undefined
  /** Told once of each trouble that begins: rows wait in memory and in the journal meanwhile. */
  readonly warn: (message: string) => void
}

/** The ledger of this process: attempts are booked without waiting and written in batches. */
export function createLedger({ journal, store, warn }: LedgerParts): Ledger {
  let waiting: LedgerRow[] = []
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  let trouble: Error | undefined
  let requests = 0

  return {
    book(row) {
      try {
        journal.note(row)
      } catch (reason) {
        failed(reason)
      }
      if (!store) return
      if (waiting.length < mostWaiting) waiting.push(row)
      if (waiting.length >= batchRows) start()
      else timer ??= setTimeout(start, batchMs).unref()
    },
    nextRequest: () => `${journal.process}${(++requests).toString(36)}`,
    async settle() {
      await flush()
      if (!store) return
      for await (const { rows, done } of journal.leftBehind()) {
        await store.append(rows)
        done()
      }
    },
    trouble: () => trouble,
    async close() {
      await flush().catch(() => undefined)
      journal.close()
    },
  }

  function start(): void {
    flush().catch(() => undefined)
  }

  /** Writes what waits, one batch at a time; after a failure the rows wait for the next. */
  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    while (writing) await writing
    if (!store || waiting.length === 0) return
    writing = write(store).finally(() => {
      writing = undefined
    })
    await writing
  }

  async function write(into: Pick<LedgerStore, 'append'>): Promise<void> {
    const rows = waiting
    waiting = []
    try {
      await into.append(rows)
      trouble = undefined
      // Rows that were booked meanwhile are noted in the same file.
      if (waiting.length === 0) journal.clear()
    } catch (reason) {
      waiting = [...rows, ...waiting].slice(0, mostWaiting)
      timer ??= setTimeout(start, batchMs * 5).unref()
      failed(reason)
      throw reason
    }
  }

  function failed(reason: unknown): void {
    const error = reason instanceof Error ? reason : new Error(String(reason))
    if (!trouble) warn(`The usage of models could not be written and waits in memory: ${error.message}`)
    trouble = error
  }
}
