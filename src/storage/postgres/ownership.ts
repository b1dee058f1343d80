import type { Work } from '../port.ts'
import { limitOwnership } from '../stores/limits.ts'
import { personaOwnership } from '../stores/personas.ts'
import { conversationOwnership } from './conversations.ts'
import { onPostgres } from './driver.ts'
import type { OwnedRows } from './owned-rows.ts'
import { responseOwnership } from './responses.ts'

/** The owner of all rows from before there were users. */
export const localUser = 'local'

/** Every other store with rows that belong to a user; each locks in this order. */
const stores: readonly OwnedRows[] = [conversationOwnership, responseOwnership]

/** The first administrator takes over all local rows. */
export function* adopt(userId: string): Work<void> {
  yield* personaOwnership.reassign(localUser, userId)
  yield* onPostgres(async (tx) => {
    for (const store of stores) await store.reassign(tx, localUser, userId)
  })
  yield* limitOwnership.reassign(localUser, userId)
}

/** Removes all rows of a removed user. */
export function* disown(userId: string): Work<void> {
  yield* personaOwnership.remove(userId)
  yield* onPostgres(async (tx) => {
    for (const store of stores) await store.remove(tx, userId)
  })
  yield* limitOwnership.remove(userId)
}
