import { AppError } from '../errors.ts'

/** Items that are made between two turns of everybody else: some milliseconds' work. */
const itemsAtOnce = 200

/** All items of what makes them one by one, at some cost: others are served in between, and an aborted `signal` ends it. */
export async function collectYielding<T>(items: Iterable<T>, signal?: AbortSignal): Promise<readonly T[]> {
  const all: T[] = []
  for (const item of items) {
    all.push(item)
    if (all.length % itemsAtOnce > 0) continue
    await new Promise(setImmediate)
    signal?.throwIfAborted()
  }
  return all
}

/** Lets each user have so many things under way. */
export interface PerUserLimit {
  /** Takes a place for this user and returns the function that gives it back. Throws `rate_limited` when none is free. */
  take(user: string): () => void
}

export function createPerUserLimit(most: number): PerUserLimit {
  const taken = new Map<string, number>()
  const change = (user: string, by: number) => {
    const now = (taken.get(user) ?? 0) + by
    if (now > 0) taken.set(user, now)
    else taken.delete(user)
  }
  return {
    take(user) {
      if ((taken.get(user) ?? 0) >= most)
        throw new AppError('rate_limited', `You may have ${most} packages taken in at the same time`, {
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
