import { type ChatRequest, type Message, textOf } from './messages.ts'

/** Characters of some 1,024 tokens, the shortest prefix that a provider keeps (Anthropic, "Prompt caching"). */
const leastCharacters = 4096

const mark = { prefix_end: true }

/**
 * Marks the ends of what a request has in common with the next one of its conversation: the last system message before
 * the talk, and the last message before the user's newest. Dialects whose providers cache only what is marked translate the
 * marks. A short conversation gets none, nor does one whose client sets marks of its own.
 * @param asked the client's own part of the request
 */
export function markPrefix(messages: readonly Message[], asked: Partial<ChatRequest>): readonly Message[] {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const end = (last < 0 ? messages.length : last) - 1
  if (end < 0 || !isLong(messages, end) || holdsMark(asked)) return messages
  const talk = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer')
  const ends = new Set([talk < 0 ? end : Math.max(0, talk - 1), end])
  return messages.map((message, at) =>
    ends.has(at) && at <= end ? { ...message, extra_content: { ...message.extra_content, aichat: mark } } : message,
  )
}

/** Whether a message ends such a part. */
export function endsPrefix(message: Message): boolean {
  return message.extra_content?.['aichat']?.['prefix_end'] === true
}

function isLong(messages: readonly Message[], end: number): boolean {
  let characters = 0
  for (let at = 0; at <= end && characters < leastCharacters; at++) characters += textOf(messages[at]!.content).length
  return characters >= leastCharacters
}

/** Whether a request has a field `cache_control` at any depth. */
function holdsMark(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if ('cache_control' in value) return true
  return Object.values(value).some(holdsMark)
}
