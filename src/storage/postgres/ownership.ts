import type { Work } from '../port.ts'
import { conversationOwnership } from '../stores/conversations.ts'
import type { OwnedRows } from '../stores/owned-rows.ts'
import { responseOwnership } from '../stores/responses.ts'
import { onPostgres } from './driver.ts'
import { limitOwnership } from './limits.ts'
import type { OwnedRows as NativeRows } from './owned-rows.ts'
import { personaOwnership } from './personas.ts'

/** The owner of all rows from before there were users. */
export const localUser = 'local'

/** Every store with rows that belong to a user; each locks in this order. */
const stores: readonly OwnedRows[] = [
  ported(personaOwnership),
  conversationOwnership,
  responseOwnership,
  ported(limitOwnership),
]

/** The first administrator takes over all local rows. */
export function* adopt(userId: string): Work<void> {
  for (const store of stores) yield* store.reassign(localUser, userId)
}

/** Removes all rows of a removed user. */
export function* disown(userId: string): Work<void> {
  for (const store of stores) yield* store.remove(userId)
}

/** The rows of a store that is written for one database alone. */
function ported({ reassign, remove }: NativeRows): OwnedRows {
  return {
    reassign: (from, to) => onPostgres((tx) => reassign(tx, from, to)),
    remove: (owner) => onPostgres((tx) => remove(tx, owner)),
  }
}
