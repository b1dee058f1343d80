import type { Work } from '../port.ts'

/** A store's rows when users come and go, inside of the transaction that changes the accounts. */
export interface OwnedRows {
  /** Moves all rows of one owner to another. */
  reassign(from: string, to: string): Work<void>
  /** Removes all rows of an owner. */
  remove(owner: string): Work<void>
}
