import { AppError } from '../../errors.ts'
import type { Database } from './connection.ts'

/** The most that one user may store over all personas. */
export interface StoredLimits {
  readonly memories: number
  readonly bytes: number
}

/** These limits among the settings. */
export function storedLimits(settings: {
  readonly storedBytesPerUser: number
  readonly storedMemoriesPerUser: number
}): StoredLimits {
  return { bytes: settings.storedBytesPerUser, memories: settings.storedMemoriesPerUser }
}

/** Memories and bytes over all personas of one owner. */
export type Stored = StoredLimits

/** What is stored for an owner, and whether it may be so much. One row is read, however much there is. */
export interface Quota {
  stored(owner: string): Stored
  /**
   * Throws `too_large` when the owner has more than is allowed. Called inside the transaction that stores something,
   * after it is stored; `coming` is what will be stored but is not yet.
   */
  check(owner: string, coming?: Partial<Stored>): void
}

export function createQuota(db: Database, limits: StoredLimits): Quota {
  const find = db.prepare<[string], Stored>('SELECT memories, bytes FROM user_usage WHERE user_id = ?')
  const stored = (owner: string) => find.get(owner) ?? { memories: 0, bytes: 0 }
  return {
    stored,
    check(owner, { memories = 0, bytes = 0 } = {}) {
      const there = stored(owner)
      const full = [
        ...(there.memories + memories > limits.memories
          ? [`${there.memories + memories} memories; limits.stored_memories_per_user is ${limits.memories}`]
          : []),
        ...(there.bytes + bytes > limits.bytes
          ? [`${there.bytes + bytes} bytes; limits.stored_bytes_per_user is ${limits.bytes}`]
          : []),
      ]
      if (full.length === 0) return
      throw new AppError('too_large', 'Your personas would hold more than one user may store', {
        details: [
          ...full.map((each) => `all of them together would have ${each}`),
          'Wipe memories, or remove personas or backups that are not needed; an operator can raise the limit',
        ],
      })
    },
  }
}
