import type { Days } from '../days.ts'
import type { Ledger, LedgerRow, LedgerStore } from './ledger.ts'

export interface UpkeepParts {
  readonly ledger: Pick<Ledger, 'settle'>
  readonly store: Pick<LedgerStore, 'append' | 'prune'>
  /** Attempts that reserved money in a process that ended without a note of them. */
  readonly orphans: () => Promise<readonly LedgerRow[]>
  readonly days: Days
  readonly keepDays: number
  /** Milliseconds since 1970 UTC. */
  readonly clock: () => number
}

/** Milliseconds between two rounds: so late at the most are rows of ended commands in the sums. */
const pause = 60_000
const dayMs = 86_400_000

/**
 * Books the rows that ended processes left in their journals, at the start and every minute, and removes rows that are older
 * than they are kept, once a day. A round that fails is tried again with the next.
 */
export function startUpkeep({ ledger, store, orphans, days, keepDays, clock }: UpkeepParts) {
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  let pruned = ''
  let running = round()
  return {
    /** Ends it; resolves after the last write. */
    async close() {
      isOver = true
      clearTimeout(timer)
      await running
    },
  }

  async function round(): Promise<void> {
    await work().catch(() => undefined)
    if (isOver) return
    timer = setTimeout(() => {
      running = round()
    }, pause).unref()
  }

  async function work(): Promise<void> {
    await ledger.settle()
    // After the journals: their amounts are exact, an orphan's are those reserved.
    await store.append(await orphans())
    const first = days.dayOf(clock() - keepDays * dayMs)
    if (first === pruned) return
    await store.prune(first)
    pruned = first
  }
}
