import type { Work } from '../port/port.ts'
import { conversationOwnership } from './conversations.ts'
import { limitOwnership } from './limits.ts'
import type { OwnedRows } from './owned-rows.ts'
import { personaOwnership } from './personas.ts'
import { responseOwnership } from './responses.ts'

/** The owner of all rows from before there were users. */
export const localUser = 'local'

/** Every store with rows that belong to a user; each locks in this order. */
const stores: readonly OwnedRows[] = [personaOwnership, conversationOwnership, responseOwnership, limitOwnership]

/** The first administrator takes over all local rows. */
export function* adopt(userId: string): Work<void> {
  for (const store of stores) yield* store.reassign(localUser, userId)
}

/** Removes all rows of a removed user. */
export function* disown(userId: string): Work<void> {
  for (const store of stores) yield* store.remove(userId)
}
