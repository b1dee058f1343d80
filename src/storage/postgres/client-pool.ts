import { isAway } from './errors.ts'

interface Waiting<Client> {
  /** The number of the last attempt that it waits for. */
  readonly last: number
  /** The failure of its own attempt. */
  readonly reason: unknown
  resolve(client: Client): void
  reject(reason: unknown): void
}

/** Connections, made by `connect`, of which each serves one transaction after the other. */
export function createClientPool<Client>(connect: () => Promise<Client>) {
  let free: Client[] = []
  const busy = new Set<Client>()
  /** Numbers of the attempts under way, in their order. */
  const making = new Set<number>()
  let last = 0
  let waiting: Waiting<Client>[] = []

  async function make(): Promise<Client> {
    const number = ++last
    making.add(number)
    try {
      const made = await connect()
      busy.add(made)
      return made
    } finally {
      making.delete(number)
    }
  }

  /** Rejects those that nothing is left to wait for. */
  function rejectHopeless(): void {
    if (busy.size > 0) return
    const [first = Number.POSITIVE_INFINITY] = making
    const hopeless = waiting.filter((one) => one.last < first)
    waiting = waiting.filter((one) => one.last >= first)
    for (const { reject, reason } of hopeless) reject(reason)
  }

  return {
    /**
     * One that is free, or a new one. Where none can be made while others work or are being made (their server is slow, or has
     * no more of them), the next that is given back; rejects when the last that works has ended, and the last attempt that was
     * under way has failed. Attempts that begin later are not waited for: their series may have no end.
     */
    async take(): Promise<Client> {
      const found = free.pop()
      if (found) {
        busy.add(found)
        return found
      }
      try {
        return await make()
      } catch (reason) {
        // One may have come back meanwhile.
        const back = isAway(reason) ? free.pop() : undefined
        if (back) {
          busy.add(back)
          return back
        }
        return new Promise<Client>((resolve, reject) => {
          if (isAway(reason)) waiting.push({ last, reason, resolve, reject })
          else reject(reason)
          rejectHopeless()
        })
      }
    },
    give(client: Client) {
      if (!busy.has(client)) return
      const next = waiting.shift()
      if (next) return next.resolve(client)
      busy.delete(client)
      free.push(client)
    },
    /** Forgets one that has ended. */
    forget(client: Client) {
      free = free.filter((one) => one !== client)
      if (busy.delete(client)) rejectHopeless()
    },
    /** Those that are free. */
    free: (): readonly Client[] => free,
  }
}
