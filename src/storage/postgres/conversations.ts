import type { ConversationStore } from '../../personas/chat/conversation.ts'
import type { Context } from './context.ts'

/** Conversations in PostgreSQL. */
export function createConversationStore(_context: Context): ConversationStore {
  throw new Error('Not written yet')
}
