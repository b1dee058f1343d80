import type { Work } from '../port/port.ts'

/** A store's rows when users come and go, inside the transaction of the accounts. */
export interface OwnedRows {
  /** Moves all rows of one owner to another. */
  reassign(from: string, to: string): Work<void>
  /** Removes all rows of an owner. */
  remove(owner: string): Work<void>
}
