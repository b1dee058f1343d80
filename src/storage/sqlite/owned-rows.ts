import type { Database } from './connection.ts'

/** What a store does with its rows when users come and go: plain statements, run inside the transaction that does it. */
export interface OwnedRows {
  /** What belonged to one owner now belongs to another. */
  reassign(db: Database, from: string, to: string): void
  /** The owner is gone, and what was theirs goes too. */
  remove(db: Database, owner: string): void
}
