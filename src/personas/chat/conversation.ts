import type { Message } from '../../chat/protocol/messages.ts'
import { textOf } from '../../chat/protocol/messages.ts'
import { displayName } from '../../formats/display-name.ts'

/** A saved conversation, called a session on the wire. */
export interface Conversation {
  readonly id: string
  readonly user_id: string
  /** Unique among its owner's. */
  readonly name: string
  /** The persona that answers in it, unless a request names another. */
  readonly persona_id?: string
  readonly messages: number
  /** Milliseconds since 1970 UTC. */
  readonly created_at: number
  readonly updated_at: number
}

/** A message of a saved conversation, in the shape of a chat request, and when it was said. */
export interface SavedMessage {
  readonly message: Message
  readonly timestamp: number
}

export interface NewConversation {
  readonly id: string
  readonly user_id: string
  readonly name: string
  readonly persona_id?: string
  readonly created_at: number
}

/** Where conversations are kept. `owner` is part of every call, and what is not theirs is not there. */
export interface ConversationStore {
  /** False when the owner has one of that name. */
  create(conversation: NewConversation): Promise<boolean>
  /** The conversation, whoever owns it: the caller compares `user_id`. */
  find(id: string): Promise<Conversation | undefined>
  named(owner: string, name: string): Promise<Conversation | undefined>
  /** The one that was spoken in last comes first. */
  list(
    owner: string,
    limit: number,
    offset: number,
  ): Promise<{ readonly conversations: readonly Conversation[]; readonly total: number }>
  messages(owner: string, id: string): Promise<readonly SavedMessage[]>
  /** Adds messages at the end; false when the conversation is gone. */
  append(owner: string, id: string, messages: readonly SavedMessage[]): Promise<boolean>
  /** False when it is gone or the name is taken. */
  rename(owner: string, id: string, name: string): Promise<boolean>
  remove(owner: string, id: string): Promise<boolean>
}

export const conversationName = displayName(200)

/**
 * The newest messages that fit, whole turns from the oldest on left out, and every message of the system kept. What the
 * user said last is always there: without it there would be nothing to answer.
 * @param tokens how many tokens the messages may take together, as `estimateTokens` counts
 */
export function fitContext(messages: readonly Message[], tokens: number): readonly Message[] {
  let left = tokens
  for (const message of messages) if (isSystem(message)) left -= estimateTokens(message)
  const turns = turnsOf(messages.filter((message) => !isSystem(message)))
  const kept: Message[][] = []
  for (const turn of turns.toReversed()) {
    left -= turn.reduce((sum, message) => sum + estimateTokens(message), 0)
    if (left < 0 && kept.length > 0) break
    kept.unshift(turn)
  }
  const staying = new Set(kept.flat())
  return messages.filter((message) => isSystem(message) || staying.has(message))
}

/**
 * About how many tokens a message takes, rather too many than too few: a token per three characters of a script with
 * spaces, one per character of one without, and a few for each message's frame.
 */
export function estimateTokens(message: Message): number {
  const text = textOf(message.content) + (message.tool_calls ? JSON.stringify(message.tool_calls) : '')
  const images = Array.isArray(message.content) ? message.content.filter((part) => part.type !== 'text').length : 0
  // The beginning of a long text speaks for the rest: to look at 30 MiB of them would take a tenth of a second.
  const sample = text.slice(0, 100_000)
  const found = sample.match(/[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u3000-\u9fff\uac00-\ud7af]/g)?.length ?? 0
  const wide = text === sample ? found : Math.round((found / sample.length) * text.length)
  return 6 + wide + Math.ceil((text.length - wide) / 3) + images * 1000
}

/** A turn begins with what the user says; answers, tool calls and their results belong to it and go with it. */
function turnsOf(messages: readonly Message[]): Message[][] {
  const turns: Message[][] = []
  for (const message of messages) {
    if (message.role === 'user' || turns.length === 0) turns.push([message])
    else turns.at(-1)!.push(message)
  }
  return turns
}

function isSystem(message: Message): boolean {
  return message.role === 'system' || message.role === 'developer'
}

/** A message as it is kept: pictures and other data are named, not kept, for they would be sent again with every turn. */
export function keptMessage(message: Message): Message {
  if (!Array.isArray(message.content)) return message
  const text = message.content.map((part) => (part.type === 'text' ? textOf([part]) : `[${part.type}]`)).join('\n')
  return { ...message, content: text }
}
