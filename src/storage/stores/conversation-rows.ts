import type { Conversation, FoundMessage, SavedMessage } from '../../personas/personas.ts'

/** Conversations that make room with one that is kept. */
export const mostTrimmed = 20

export interface ConversationRow extends Omit<Conversation, 'persona_id' | 'branch' | 'pinned'> {
  pinned: boolean | 0 | 1
  persona_id: string | null
  branch_root: string | null
  branch_of: string | null
  branch_at: number | null
}

/** A message likewise; message and answer are JSON. */
export interface MessageRow {
  message: string
  timestamp: number
  cost: number | null
  answer: string | null
}

/** A message that a search found, with its conversation. */
export interface FoundRow extends MessageRow {
  id: string
  name: string
  persona_id: string | null
  number: number
}

export function conversationOf(given: ConversationRow): Conversation {
  const { persona_id, pinned, branch_root: root, branch_of: of, branch_at: at, ...row } = given
  const branch = root !== null && of !== null && at !== null ? { root, of, at } : undefined
  return {
    ...row,
    ...(persona_id !== null && { persona_id }),
    ...(branch && { branch }),
    ...(pinned && { pinned: true }),
  }
}

export function messageOf({ message, timestamp, cost, answer }: MessageRow): SavedMessage {
  return {
    message: JSON.parse(message),
    timestamp,
    ...(cost !== null && { cost }),
    ...(answer !== null && { answer: JSON.parse(answer) }),
  }
}

export function foundOf({ id, name, persona_id, number, ...row }: FoundRow): FoundMessage {
  return { conversation: { id, name, ...(persona_id !== null && { persona_id }) }, number, saved: messageOf(row) }
}

/** A name with its accents composed (Unicode NFC) and decomposed (NFD); `named` prefers the name as it is written, then this order. */
export function formsOf(name: string) {
  return { name, composed: name.normalize('NFC'), decomposed: name.normalize('NFD') }
}
