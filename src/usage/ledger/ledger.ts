import { z } from 'zod'
import type { Ending, Purpose } from '../../chat/chat.ts'
import type { Amounts, Cost, CostSource } from '../cost.ts'

/** Stored by their place in these lists, which only grow. */
export const outcomes = ['answered', 'failed', 'broken', 'cancelled'] as const satisfies readonly Ending[]
export const purposes = ['chat', 'embeddings', 'speech', 'persona', 'plugin_test'] as const satisfies readonly Purpose[]
export const costSources = [
  'reported',
  'operator',
  'refreshed',
  'shipped',
  'local',
] as const satisfies readonly CostSource[]

/** One attempt, as it is booked. Unique by request and attempt. */
export interface LedgerRow {
  /** Unique over all processes: a random part of the process, and a counter. The first member: lines of a journal begin with it. */
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
  /** Tokens were counted by us, since the provider reported none. */
  readonly estimated: boolean
  /** The provider continues and bills more than was delivered: an abort does not stop it. */
  readonly lowerBound: boolean
  readonly amounts: Amounts
  readonly cost: Cost
  readonly durationMs: number
  /** From its beginning to the first content of a streamed answer: milliseconds. */
  readonly firstMs?: number | undefined
  /** Why it failed, in one of few ways: `overloaded 503`. */
  readonly reason?: string | undefined
  /** The reservation in the budgets that this row settles. */
  readonly reservation?: string | undefined
}

/** Rows noted on the disk before they are in the database: a file of this process alone. */
export interface UsageJournal {
  /** The random part of this process in the ids of its requests. */
  readonly process: string
  /** Notes rows: they survive the process's end, no power cut. Some microseconds. Throws `io` on a full disk. */
  note(rows: readonly LedgerRow[]): void
  /** Forgets all noted rows, which are in the database now. */
  clear(): void
  /** Leaves the noted rows behind, for the next process that asks for such, and begins again. */
  setAside(): void
  /** The rows of processes that ended before they had written them; each list is forgotten once its `done` is called. */
  leftBehind(): AsyncIterable<{ readonly rows: readonly LedgerRow[]; done(): void }>
  /** The journals of all processes. */
  count(): number
  close(): void
}

/** The columns by which usage is summed up. */
export const usageColumns = ['day', 'model', 'key', 'user', 'plugin'] as const
export type UsageColumn = (typeof usageColumns)[number]

export interface UsageQuery {
  readonly by: readonly UsageColumn[]
  /** Days as `2026-11-22`, both inclusive, in the ledger's time zone. */
  readonly since: string
  readonly until: string
  readonly user?: string | undefined
  readonly key?: string | undefined
  readonly model?: string | undefined
  readonly plugin?: string | undefined
  /** The most groups of the answer; without it all. */
  readonly most?: number | undefined
}

/** The names of the sums over attempts, in their order. Costs are nano-USD over those with a price; `unpriced` counts the others. */
export const usageSums = [
  'requests',
  'failed',
  'input_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'characters',
  'cost_nano',
  'unpriced',
  'estimated',
] as const

export type UsageSums = Readonly<Record<(typeof usageSums)[number], number>>

/** A group: the columns that were asked for, and its sums. `key` is null for logins, `plugin` for this machine. */
export type UsageGroup = UsageSums & {
  readonly [K in UsageColumn]?: K extends 'key' | 'plugin' ? string | null : string
}

/** Differences between ledger and rollup that `check` found: none where all is well. One line each. */
export type LedgerProblems = readonly string[]

/** Rows by time, by the columns of a query, or by their outcomes. */
export interface RowQuery extends Omit<UsageQuery, 'by' | 'most'> {
  /** The attempts of one request. */
  readonly request?: string | undefined
  /** All of them by default. */
  readonly outcomes?: readonly LedgerRow['outcome'][] | undefined
  /** Milliseconds since 1970 UTC, both inclusive, within the days. */
  readonly from?: number | undefined
  readonly to?: number | undefined
  /** By default the oldest come first. */
  readonly isNewestFirst?: boolean | undefined
}

/** The attempts of a minute. */
export const minuteSums = z.object({
  /** Its beginning: milliseconds since 1970 UTC. */
  at: z.int(),
  requests: z.int(),
  /** Those that failed or broke off. */
  failed: z.int(),
  /** Of those with a known price, in 10^-9 USD. */
  cost_nano: z.int(),
  /** The mean time to the first content of streamed answers: milliseconds; null where there was none. */
  first_ms: z.number().nullable(),
})
export type MinuteSums = z.output<typeof minuteSums>

/** Keeps the ledger: rows, and their sums by day, user, key, plugin and model, always written together. */
export interface LedgerStore {
  /** Adds rows in one transaction; those that are there already change nothing. Resolves with the number of new ones. */
  append(rows: readonly LedgerRow[]): Promise<number>
  /** Sums by day and the other columns, in the order of the columns. */
  sums(query: UsageQuery): Promise<readonly UsageGroup[]>
  /** Sums by minute, of the minutes with an attempt. */
  minutes(query: RowQuery): Promise<readonly MinuteSums[]>
  /** The rows of a time by their day and time, in batches. */
  rows(query: RowQuery): Promise<AsyncIterable<readonly LedgerRow[]>>
  /** Compares the rows with their sums, for the days with all their rows. At most a hundred lines. */
  check(): Promise<LedgerProblems>
  /** Removes the rows of the days before that one, in slices; sums stay. Resolves with their number. */
  prune(before: string): Promise<number>
}

/** Rows that wait for the database, at the most: the others are in the journal alone, for a later round. */
const mostWaiting = 100_000

/**
 * A transaction is due with so many rows, or so long after the first (milliseconds). One of 512 rows blocks for 2.2 ms;
 * sixteen of 32 rows take 6 ms.
 */
const batchRows = 512
const batchMs = 200

/** After a failure the next try waits so long: milliseconds. */
const retryMs = 1000

/** Another process may write for a while: so long it is no trouble. Milliseconds. */
const busyMs = 5000

/** Milliseconds between two warnings of the same kind. */
const warningMs = 60_000

export type Ledger = ReturnType<typeof createLedger>

export interface LedgerState {
  /** Rows that are not in the database yet. */
  readonly waiting: number
  /** The failure of the last write, such as a full disk; undefined while all is well. */
  readonly trouble: string | undefined
}

export interface LedgerParts {
  readonly journal: UsageJournal
  /** Undefined while this process has no database open: then rows stay in the journal for a process that has. */
  readonly store: () => Pick<LedgerStore, 'append'> | undefined
  /** Called for each trouble once a minute at the most: rows wait in memory and in the journal meanwhile. */
  readonly warn: (message: string) => void
  /** Milliseconds, monotonic. */
  readonly now: () => number
}

/** The ledger of this process: attempts are booked without waiting and written in batches. */
export function createLedger({ journal, store, warn, now }: LedgerParts) {
  let waiting: LedgerRow[] = []
  let together: LedgerRow[] = []
  let noted: Promise<void> | undefined
  // Rows that are in the journal alone, since too many waited.
  let hasDropped = false
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  let requests = 0
  let nextTry = 0
  let failingSince: number | undefined
  const journalTrouble = createTrouble('The journal of usage could not be written: a crash would lose rows', warn, now)
  const storeTrouble = createTrouble('The usage of models could not be written and waits in memory', warn, now)

  return {
    /** Books an attempt: noted in the journal at once, in the database within a fifth of a second. */
    book(row: LedgerRow) {
      note([row])
      enqueue(row)
    },
    /** Books an attempt with others of this turn, at a third of the cost. Resolves once noted; never rejects. */
    bookTogether(row: LedgerRow) {
      together.push(row)
      noted ??= new Promise((resolve) => {
        setImmediate(() => {
          noteTogether()
          resolve()
        })
      })
      return noted
    },
    /** The next id of a request. */
    nextRequest: () => `${journal.process}${(++requests).toString(36)}`,
    /** Writes all that waits, and rows in journals of ended processes. Rejects when the database refuses them. */
    async settle() {
      await flush()
      const into = store()
      if (!into) return
      for await (const { rows, done } of journal.leftBehind()) {
        await into.append(rows)
        done()
      }
    },
    state: (): LedgerState => ({
      waiting: waiting.length + together.length,
      trouble: storeTrouble.last() ?? journalTrouble.last(),
    }),
    async close() {
      await flush().catch(() => undefined)
      journal.close()
    },
  }

  function note(rows: readonly LedgerRow[]): void {
    try {
      journal.note(rows)
      journalTrouble.passed()
    } catch (reason) {
      journalTrouble.happened(reason)
    }
  }

  function noteTogether(): void {
    const rows = together
    if (rows.length === 0) return
    together = []
    noted = undefined
    note(rows)
    for (const row of rows) enqueue(row)
  }

  /** Has a row wait for the database. */
  function enqueue(row: LedgerRow): void {
    if (waiting.length < mostWaiting) waiting.push(row)
    else hasDropped = true
    if (waiting.length >= batchRows) startFull()
    else timer ??= setTimeout(start, batchMs).unref()
  }

  /** A batch is full: written at once, unless the last write failed a moment ago. */
  function startFull(): void {
    if (!writing && now() >= nextTry) start()
  }

  function start(): void {
    flush().catch(() => undefined)
  }

  /** Writes the rows that wait, one batch at a time; after a failure they wait for the next. */
  async function flush(): Promise<void> {
    noteTogether()
    clearTimeout(timer)
    timer = undefined
    while (writing) await writing.catch(() => undefined)
    const into = store()
    if (!into || waiting.length === 0) return
    writing = write(into).finally(() => {
      writing = undefined
    })
    await writing
  }

  async function write(into: Pick<LedgerStore, 'append'>): Promise<void> {
    const rows = waiting
    waiting = []
    try {
      for (let at = 0; at < rows.length; at += mostAtOnce) await into.append(rows.slice(at, at + mostAtOnce))
      // V8 may have made the list an old object by now, which keeps the rows that it refers to until a full collection.
      const places: unknown[] = rows
      places.fill(undefined)
      storeTrouble.passed()
      failingSince = undefined
      // Rows that were booked meanwhile are noted in the same file.
      if (waiting.length === 0) clearJournal()
      else if (waiting.length >= batchRows) timer ??= setTimeout(start, 0).unref()
    } catch (reason) {
      waiting = rows.concat(waiting)
      if (waiting.length > mostWaiting) {
        waiting.length = mostWaiting
        hasDropped = true
      }
      nextTry = now() + retryMs
      timer ??= setTimeout(start, retryMs).unref()
      failingSince ??= now()
      const isBusy = (reason as { code?: unknown } | null)?.code === 'busy'
      if (!isBusy || now() - failingSince >= busyMs) storeTrouble.happened(reason)
      throw reason
    }
  }

  function clearJournal(): void {
    try {
      if (hasDropped) journal.setAside()
      else journal.clear()
      hasDropped = false
      // An empty journal lacks no row.
      journalTrouble.passed()
    } catch (reason) {
      // Rows that stay in a journal are written twice and count once.
      journalTrouble.happened(reason)
    }
  }
}

/** Rows of one transaction after a time without a database: it blocks for some milliseconds. */
const mostAtOnce = 1000

/** Remembers a failure that lasts, and warns of it now and then. */
function createTrouble(what: string, warn: (message: string) => void, now: () => number) {
  let last: string | undefined
  let nextWarning = Number.NEGATIVE_INFINITY
  return {
    last: () => last,
    passed() {
      if (last !== undefined) last = undefined
    },
    happened(reason: unknown) {
      last = reason instanceof Error ? reason.message : String(reason)
      if (now() < nextWarning) return
      nextWarning = now() + warningMs
      warn(`${what}: ${last}`)
    },
  }
}
