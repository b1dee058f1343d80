import type { Transaction } from './sql.ts'

/** A store's rows when users come and go: plain statements, run inside the caller's transaction. */
export interface OwnedRows {
  /** Moves all rows of one owner to another. */
  reassign(tx: Transaction, from: string, to: string): Promise<void>
  /** Removes all rows of an owner. */
  remove(tx: Transaction, owner: string): Promise<void>
}
