import type { ChatRequest, ContentPart, Message } from './protocol/messages.ts'
import { estimateRequestTokens, messageTokens } from './protocol/token-estimate.ts'
import { textLength } from './text-length.ts'

/** A request that fits a window, and the extent of what was left out of it; undefined where all fits. */
export interface Fitted {
  readonly messages: readonly Message[]
  readonly left?: { readonly messages: number; readonly tokens: number } | undefined
}

/** Tokens of the window that are kept for the answer, unless the request sets its own limit. */
const answerTokens = 1_024
/** The fewest tokens for messages, however large the tools and the answer. */
const leastTokens = 256

/** An estimate may be a fifth too small or too large, see `textTokens`; scripts and code of few samples a quarter. */
const mostError = 1.25

/**
 * How exactly a request is fitted. `certain` counts each token for more than it may be worth, for places that cut too long
 * a request without a word. `likely` leaves out only what surely does not fit, since the provider refuses the rest, and is
 * then asked with less. A number is the factor by which a provider counted more than the estimate.
 */
export type Counting = 'certain' | 'likely' | number

/**
 * Fits a request into a window of `window` tokens, along with its tools and its answer. What is left out comes from the middle:
 * never a system message, the first question with its files, the last question, or one half of a tool call. Whole turns go
 * first, the oldest first; where the last turn alone is too long, its oldest tool calls with their results do.
 */
export function fitRequest(
  request: Pick<ChatRequest, 'messages'> & Partial<ChatRequest>,
  window: number,
  counting: Counting = 'certain',
): Fitted {
  const { messages, tools } = request
  // No text has more tokens than characters, and those are counted at once.
  const isShort = textLength(messages) + 6 * messages.length + (tools ? textLength(tools) : 0) < window / 4
  if (isShort && !messages.some(hasFiles)) return { messages }
  const answer = Math.min(request.max_completion_tokens ?? request.max_tokens ?? answerTokens, window / 2)
  const room = Math.max(leastTokens, window - answer)
  const total = estimateRequestTokens(request)
  const factor = counting === 'certain' ? mostError : counting === 'likely' ? 1 : counting
  // A request that may fit by the estimate's own error is sent whole where a refusal would tell.
  if (total * (counting === 'likely' ? 1 / mostError : factor) <= room) return { messages }
  const ofTools = tools ? total - estimateRequestTokens({ messages }) : 0
  return fitMessages(messages, Math.max(leastTokens, room / factor - ofTools))
}

/** The tokens that a request and its answer take at the most, as we count. */
export function neededTokens(request: Pick<ChatRequest, 'messages'> & Partial<ChatRequest>): number {
  const answer = request.max_completion_tokens ?? request.max_tokens ?? answerTokens
  return Math.ceil(estimateRequestTokens(request) * mostError) + answer
}

/** The tokens of messages that are too many for a window of `window` tokens, as we count; undefined where they fit. */
export function excessiveTokens(messages: readonly Message[], window: number): number | undefined {
  if (textLength(messages) + 6 * messages.length <= window) return undefined
  const tokens = Math.ceil(estimateRequestTokens({ messages }) * mostError)
  return tokens > window ? tokens : undefined
}

/** Leaves out messages until the others take at most `tokens` tokens, as `messageTokens` counts. */
function fitMessages(messages: readonly Message[], tokens: number): Fitted {
  const turns = turnsOf(messages.filter((message) => !isSystem(message)))
  const last = turns.pop() ?? []
  const first = turns.shift() ?? []
  const kept = new Set(messages.filter(isSystem))
  let room = tokens - sizeOf([...kept])
  const keep = (some: readonly Message[]) => {
    room -= sizeOf(some)
    for (const message of some) kept.add(message)
  }
  /** Keeps parts from the end on, as far as they fit. */
  const keepLast = (parts: readonly (readonly Message[])[]) =>
    parts.toReversed().every((part) => {
      if (sizeOf(part) > room) return false
      keep(part)
      return true
    })
  const [firstQuestion, ...firstSteps] = stepsOf(first)
  const [lastQuestion, ...lastSteps] = stepsOf(last)
  keep(lastQuestion ?? [])
  // Where not even both questions fit, the last one alone is asked.
  const holdsFiles = firstQuestion?.some(hasFiles) === true
  if (holdsFiles && sizeOf(firstQuestion!) <= room) keep(firstQuestion!)
  const isWhole = keepLast(lastSteps)
  const goesOn = isWhole && keepLast(turns.slice(-1))
  if (isWhole && !holdsFiles && sizeOf(first) <= room) keep(first)
  if (goesOn && keepLast(turns.slice(0, -1)) && holdsFiles) keepLast(firstSteps)
  const left = messages.filter((message) => !kept.has(message))
  if (left.length === 0) return { messages }
  return {
    messages: messages.filter((message) => kept.has(message)),
    left: { messages: left.length, tokens: Math.ceil(sizeOf(left)) },
  }
}

function sizeOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + messageTokens(message), 0)
}

/** A turn is a user message with the answers, tool calls and results that follow it. */
function turnsOf(messages: readonly Message[]): Message[][] {
  return groups(messages, ({ role }) => role === 'user')
}

/** The steps of a turn: its question, and each answer with the results of the tools that it called. */
function stepsOf(turn: readonly Message[]): Message[][] {
  return groups(turn, ({ role }) => role !== 'tool')
}

function groups(messages: readonly Message[], begins: (message: Message) => boolean): Message[][] {
  const found: Message[][] = []
  for (const message of messages) {
    if (begins(message) || found.length === 0) found.push([message])
    else found.at(-1)!.push(message)
  }
  return found
}

function isSystem({ role }: Message): boolean {
  return role === 'system' || role === 'developer'
}

/** A long text in a question is a file too: that is how files of text are attached. */
const fileLength = 4_000

function hasFiles({ content }: Message): boolean {
  if (typeof content === 'string') return content.length >= fileLength
  const parts = (content ?? []) as readonly ContentPart[]
  return parts.some((part) => part.type !== 'text' || textLength(part) >= fileLength)
}
