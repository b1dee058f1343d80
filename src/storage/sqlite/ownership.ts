import { conversationOwnership } from './conversations.ts'
import type { Database } from './database.ts'
import { personaOwnership } from './personas.ts'

/** The owner of what was made while there were no users. */
export const localUser = 'local'

/** What a store does with its rows when users come and go: plain statements, run inside the transaction that does it. */
export interface OwnedRows {
  /** What belonged to one owner now belongs to another. */
  reassign(db: Database, from: string, to: string): void
  /** The owner is gone, and what was theirs goes too. */
  remove(db: Database, owner: string): void
}

/** Every store whose rows belong to a user. */
const stores: readonly OwnedRows[] = [personaOwnership, conversationOwnership]

/** The first administrator takes over what was local. */
export function adopt(db: Database, userId: string): void {
  for (const store of stores) store.reassign(db, localUser, userId)
}

/** Removes what a removed user owned. */
export function disown(db: Database, userId: string): void {
  for (const store of stores) store.remove(db, userId)
}
