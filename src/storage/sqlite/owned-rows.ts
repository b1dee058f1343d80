import type { Database } from './connection.ts'

/** A store's rows when users come and go: plain statements, run inside the caller's transaction. */
export interface OwnedRows {
  /** Moves all rows of one owner to another. */
  reassign(db: Database, from: string, to: string): void
  /** Removes all rows of an owner. */
  remove(db: Database, owner: string): void
}
