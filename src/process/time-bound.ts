import type { AppError } from '../errors.ts'

/** How long work may take, and the error of work that takes longer. */
export interface TimeBound {
  readonly seconds: number
  readonly signal?: AbortSignal | undefined
  late(cause: unknown): AppError
}

/** Does work with a signal that is aborted when its time is over. Throws `late` then, and otherwise what the work throws. */
export async function inTime<R>(
  { seconds, signal, late }: TimeBound,
  work: (signal: AbortSignal) => Promise<R>,
): Promise<R> {
  const deadline = AbortSignal.timeout(seconds * 1000)
  try {
    return await work(signal ? AbortSignal.any([signal, deadline]) : deadline)
  } catch (reason) {
    if (!deadline.aborted || signal?.aborted) throw reason
    throw late(reason)
  }
}

/** Waits for work, and no longer than so many milliseconds; true where it ended by then. Rejects as the work does. */
export async function within(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false)
  })
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
