import type { Database } from './connection.ts'
import { conversationOwnership } from './conversations.ts'
import type { OwnedRows } from './owned-rows.ts'
import { personaOwnership } from './personas.ts'

/** The owner of what was made while there were no users. */
export const localUser = 'local'

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
