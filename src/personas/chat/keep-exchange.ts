import { randomUUID } from 'node:crypto'
import { AppError } from '../../errors.ts'
import type { Conversation, ConversationStore, SavedMessage } from './conversation.ts'
import { withFilesApart } from './kept-files.ts'
import { namesOf } from './kept-name.ts'

/** An exchange that is kept as a conversation of its own. */
export interface Exchange {
  /** The words of its question, which give it its name. */
  readonly title: string
  /** The id of the persona that answered. */
  readonly persona?: string | undefined
  readonly messages: readonly Omit<SavedMessage, 'timestamp'>[]
}

export type KeepExchange = (owner: string, exchange: Exchange) => Promise<Conversation>

export interface KeepParts {
  readonly store: Pick<ConversationStore, 'keep' | 'find'>
  /** The most conversations of one user that are kept without a name of their own. */
  readonly mostKept: number
  readonly clock: () => number
}

/**
 * Keeps an exchange as a conversation of its own. Beyond a number of them, the oldest that
 * were not renamed and did not go on are removed.
 */
export function createKeeping({ store, mostKept, clock }: KeepParts): KeepExchange {
  return async (owner, { title, persona, messages }) => {
    const now = clock()
    const id = randomUUID()
    const conversation = { id, user_id: owner, ...(persona !== undefined && { persona_id: persona }), created_at: now }
    const saved = await storedMessages(messages, now)
    const name = await store.keep(conversation, namesOf(title, id, now), saved, mostKept)
    const kept = name === undefined ? undefined : await store.find(id)
    if (!kept) throw new AppError('busy', 'The chat could not be kept: its session was removed at once')
    return kept
  }
}

/** Messages as they are stored, with their files apart. */
export async function storedMessages(
  messages: readonly Omit<SavedMessage, 'timestamp'>[],
  timestamp: number,
): Promise<readonly SavedMessage[]> {
  const stored: SavedMessage[] = []
  for (const each of messages) stored.push({ ...each, ...(await withFilesApart(each.message)), timestamp })
  return stored
}
