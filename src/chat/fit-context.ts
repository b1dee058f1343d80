import type { ChatRequest, Message } from './protocol/messages.ts'
import { messageTokens } from './protocol/token-estimate.ts'
import { textLength } from './text-length.ts'

/** Messages that fit a context, and the extent of those that did not; undefined where all fit. */
export interface Fitted {
  readonly messages: readonly Message[]
  readonly left?: { readonly messages: number; readonly tokens: number } | undefined
}

/** Tokens of the context that are reserved for the answer, unless the request sets its own limit. */
const answerTokens = 1_024
/** The fewest tokens for messages, however large the tools and the answer. */
const leastTokens = 256

/** Fits a request into a model's window of `context` tokens, beside its tools and its answer. */
export function fitRequest(request: Pick<ChatRequest, 'messages'> & Partial<ChatRequest>, context: number): Fitted {
  const reserved = request.max_completion_tokens ?? request.max_tokens ?? answerTokens
  const tools = request.tools ? estimateTokens({ content: JSON.stringify(request.tools) }) : 0
  return fitContext(request.messages, Math.max(leastTokens, context - tools - Math.min(reserved, context / 2)))
}

/** The tokens of messages that are too many for a window of `context` tokens, as we count; undefined where they fit. */
export function excessiveTokens(messages: readonly Message[], context: number): number | undefined {
  // No text has more tokens than characters, and those are counted at once.
  if (textLength(messages) + 6 * messages.length <= context) return undefined
  const tokens = messages.reduce((sum, message) => sum + estimateTokens(message), 0)
  return tokens > context ? tokens : undefined
}

/**
 * Fits messages into a context: drops whole turns, and so no half of a tool call, from the middle. Keeps every system message
 * and the last turn; then the one before it, the first one, and the others from the end, as far as they fit.
 * @param tokens how many tokens the messages may take together, as `estimateTokens` counts
 */
function fitContext(messages: readonly Message[], tokens: number): Fitted {
  const sizes = new Map(messages.map((message) => [message, estimateTokens(message)]))
  const sizeOf = (some: readonly Message[]) => some.reduce((sum, message) => sum + sizes.get(message)!, 0)
  const turns = turnsOf(messages.filter((message) => !isSystem(message)))
  const last = turns.pop() ?? []
  const [first = [], ...older] = turns
  const kept = new Set([...messages.filter(isSystem), ...last])
  let left = tokens - sizeOf([...kept])
  const take = (turn: readonly Message[]) => {
    const size = sizeOf(turn)
    if (size > left) return false
    left -= size
    for (const message of turn) kept.add(message)
    return true
  }
  const goesOn = take(older.pop() ?? [])
  take(first)
  if (goesOn) older.toReversed().every(take)
  const gone = messages.filter((message) => !kept.has(message))
  if (gone.length === 0) return { messages }
  return {
    messages: messages.filter((message) => kept.has(message)),
    left: { messages: gone.length, tokens: sizeOf(gone) },
  }
}

/** A message's tokens, rather too many than too few: by a quarter, as the estimate is off for scripts of few texts. */
function estimateTokens(message: Pick<Message, 'content' | 'tool_calls'>): number {
  return Math.ceil(messageTokens(message) * 1.25)
}

/** A turn is a user message with the answers, tool calls and results that follow it. */
function turnsOf(messages: readonly Message[]): Message[][] {
  const turns: Message[][] = []
  for (const message of messages) {
    if (message.role === 'user' || turns.length === 0) turns.push([message])
    else turns.at(-1)!.push(message)
  }
  return turns
}

function isSystem({ role }: Message): boolean {
  return role === 'system' || role === 'developer'
}
