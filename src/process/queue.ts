import { AppError } from '../errors.ts'

export interface WorkQueueOptions {
  readonly running: number
  /** Calls that may wait behind them; any number without it. */
  readonly waiting?: number
  /** The error of the call that finds the queue full. */
  full?(waiting: number): Error
}

/** Runs calls up to a number at the same time, and the others in the order of their arrival. */
export function createWorkQueue(options: WorkQueueOptions) {
  const { waiting: mostWaiting = Number.POSITIVE_INFINITY, full = () => new Error('The queue is full') } = options
  const waiting: (() => void)[] = []
  let running = 0
  return {
    /**
     * Resolves when a place is free, first come, first served; call the result to give the place back. Rejects with the
     * queue's own error when it is full, and with the signal's reason when that is aborted before the turn comes.
     */
    async enter(signal?: AbortSignal): Promise<() => void> {
      signal?.throwIfAborted()
      if (running < options.running) running++
      else if (waiting.length >= mostWaiting) throw full(waiting.length)
      else await inLine(signal)
      return leave
    },
  }

  /** A place is handed over without being free in between, so that no newcomer takes it. */
  function leave(): void {
    const next = waiting.shift()
    if (next) next()
    else running--
  }

  function inLine(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const proceed = () => {
        signal?.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = () => {
        waiting.splice(waiting.indexOf(proceed), 1)
        reject(signal?.reason)
      }
      waiting.push(proceed)
      signal?.addEventListener('abort', giveUp, { once: true })
    })
  }
}

/** Bounds how many things of one kind each user has under way. */
export type PerUserLimit = ReturnType<typeof createPerUserLimit>

/** Reads the limit at each call, so that a reload changes it. */
export function createPerUserLimit(limit: () => number) {
  const taken = new Map<string, number>()
  const change = (user: string, by: number) => {
    const now = (taken.get(user) ?? 0) + by
    if (now > 0) taken.set(user, now)
    else taken.delete(user)
  }
  return {
    /**
     * Takes a place for this user and returns the function that gives it back. Throws `rate_limited` when none is free.
     */
    take(user: string): () => void {
      const most = limit()
      if ((taken.get(user) ?? 0) >= most)
        throw new AppError('rate_limited', `At most ${most} of your packages may be taken in at the same time`, {
          details: ['Try again when one of them is done; limits.imports_per_user says how many there may be'],
          retryAfter: 5,
        })
      change(user, 1)
      let isOver = false
      return () => {
        if (!isOver) change(user, -1)
        isOver = true
      }
    },
  }
}
