import { isAway } from './errors.ts'

/** Connections of which each serves one transaction after the other. */
export interface ClientPool<Client> {
  /**
   * One that is free, or a new one. Where none can be made while others work (their server is slow, or has no more of them),
   * the next that is given back; rejects when the last of the others ends.
   */
  take(): Promise<Client>
  give(client: Client): void
  /** Tells of one that has ended. */
  forget(client: Client): void
  /** Those that are free. */
  free(): readonly Client[]
}

interface Waiting<Client> {
  resolve(client: Client): void
  reject(reason: unknown): void
}

/** Makes its connections by `connect`. */
export function createClientPool<Client>(connect: () => Promise<Client>): ClientPool<Client> {
  let free: Client[] = []
  const busy = new Set<Client>()
  let waiting: (Waiting<Client> & { readonly reason: unknown })[] = []
  return {
    async take() {
      const found = free.pop()
      if (found) {
        busy.add(found)
        return found
      }
      try {
        const made = await connect()
        busy.add(made)
        return made
      } catch (reason) {
        // One may have come back meanwhile.
        const back = isAway(reason) ? free.pop() : undefined
        if (back) {
          busy.add(back)
          return back
        }
        if (!isAway(reason) || busy.size === 0) throw reason
        return new Promise<Client>((resolve, reject) => waiting.push({ resolve, reject, reason }))
      }
    },
    give(client) {
      if (!busy.has(client)) return
      const next = waiting.shift()
      if (next) return next.resolve(client)
      busy.delete(client)
      free.push(client)
    },
    forget(client) {
      free = free.filter((one) => one !== client)
      if (!busy.delete(client) || busy.size > 0) return
      const left = waiting
      waiting = []
      for (const { reject, reason } of left) reject(reason)
    },
    free: () => free,
  }
}
