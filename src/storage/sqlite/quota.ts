import { refuseOver, type StoredLimits } from '../shared/limits.ts'
import type { Database } from './connection.ts'

/** Holds an owner to the limits. One row is read, however much is stored. */
export interface Quota {
  /**
   * Throws `too_large` when the owner has more than is allowed. Called inside the transaction that stores something,
   * after it is stored; `coming` is about to be stored.
   */
  check(owner: string, coming?: Partial<StoredLimits>): void
}

export function createQuota(db: Database, limits: StoredLimits): Quota {
  const prepare = () => db.prepare<[string], StoredLimits>('SELECT memories, bytes FROM user_usage WHERE user_id = ?')
  let find: ReturnType<typeof prepare> | undefined
  return {
    check(owner, { memories = 0, bytes = 0 } = {}) {
      find ??= prepare()
      const there = find.get(owner) ?? { memories: 0, bytes: 0 }
      refuseOver(limits, { memories: there.memories + memories, bytes: there.bytes + bytes })
    },
  }
}
