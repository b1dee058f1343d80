import { AppError } from '../../errors.ts'
import type { Database, Transaction, TransactionOptions } from './sql.ts'

export interface Step<R> {
  readonly isDone: boolean
  readonly value: R
}

/** Milliseconds between signs of life: a server ends a transaction without any after a minute, see connection.ts. */
const beat = 15_000

/** Milliseconds that a transaction may be held: rows that it may see cannot leave the disk. */
const longest = 15 * 60_000

interface Task {
  work(tx: Transaction): Promise<Step<unknown>>
  resolve(value: unknown): void
  reject(reason: unknown): void
}

/**
 * Opens a transaction that stays open between the calls of its owner, on a connection of its own, with the work that it
 * begins with; rejects where that does. It ends with the process, even by a crash, and leaves nothing behind. It is kept
 * awake while its owner lives, and ends by itself after a quarter of an hour.
 */
export async function holdTransaction(
  db: Database,
  begin: (tx: Transaction) => Promise<void>,
  options: TransactionOptions,
) {
  const begun = deferred<void>()
  let next = deferred<Task | Error>()
  let task: Task | undefined
  let failure: { readonly reason: unknown } | undefined
  const whole = db.transaction(
    async (tx) => {
      await begin(tx)
      begun.resolve()
      for (;;) {
        const order = await nextOrder(tx, next.promise)
        if (order instanceof Error) throw order
        task = order
        const { isDone, value } = await order.work(tx)
        if (isDone) return () => order.resolve(value)
        next = deferred()
        task = undefined
        order.resolve(value)
      }
    },
    { ...options, isHeld: true, statementTimeout: longest },
  )
  const ended = whole.then(
    (tell) => {
      failure = { reason: over() }
      tell()
    },
    (reason) => {
      failure = { reason }
      begun.reject(reason)
      task?.reject(reason)
    },
  )
  await begun.promise
  const limit = setTimeout(() => next.resolve(over()), longest)
  limit.unref()
  void ended.then(() => clearTimeout(limit))
  return {
    /**
     * Runs work in it, after its first statements, and resolves with the step's `value`: after the commit where it
     * `isDone`, otherwise at once, and the transaction stays open. After a serialisation failure the first statements
     * and the work may run again. Work that throws ends it.
     */
    use: <R>(work: (tx: Transaction) => Promise<Step<R>>) =>
      new Promise<R>((resolve, reject) => {
        if (failure) return reject(failure.reason)
        next.resolve({ work, resolve: resolve as (value: unknown) => void, reject })
      }),
    /** Rolls it back, unless it has ended. Never rejects. */
    async end() {
      next.resolve(over())
      await ended
    },
  }
}

/** Waits for the next order, and keeps the connection awake meanwhile. */
async function nextOrder(tx: Transaction, order: Promise<Task | Error>): Promise<Task | Error> {
  // One that failed shows at the next order.
  const pulse = setInterval(() => void tx.row('SELECT 1').catch(() => undefined), beat)
  pulse.unref()
  try {
    return await order
  } finally {
    clearInterval(pulse)
  }
}

function over(): AppError {
  return new AppError('busy', 'It was not finished in time: try again', { retryAfter: 5 })
}

interface Deferred<T> {
  readonly promise: Promise<T>
  resolve(value: T): void
  reject(reason: unknown): void
}

function deferred<T>(): Deferred<T> {
  let settle: Pick<Deferred<T>, 'resolve' | 'reject'> | undefined
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject }
  })
  promise.catch(() => undefined)
  return { promise, resolve: (value) => settle!.resolve(value), reject: (reason) => settle!.reject(reason) }
}
