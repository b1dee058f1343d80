import type { Quirks, WireRequest } from '../../protocol/dialect.ts'
import { mediaKind } from '../../protocol/media.ts'
import type { ChatRequest, ContentPart, Message } from '../../protocol/messages.ts'
import { endsPrefix } from '../../protocol/prefix.ts'
import { failedTool, isFailedTool } from '../shared/alternation.ts'
import { isSupportedMedia, unsupportedMedia } from '../shared/media-support.ts'
import { wireRequest } from '../shared/request-writer.ts'
import { answeredNames, renameToolIds } from '../shared/tool-ids.ts'
import { withoutExtra } from './content.ts'
import { hostOf, isOpenai, isStrict, mistralHost } from './hosts.ts'
import { isReasoning, lostSampling } from './sampling.ts'

/** Our request is OpenAI's: writing it removes other dialects' fields and adapts it to the provider. */
export function writeRequest(request: ChatRequest, endpoint: string, quirks: Quirks = {}): WireRequest {
  const host = hostOf(endpoint)
  const { messages, tools } = request
  const sent = isMarkable(host, request.model) ? messages.map(withMark) : messages
  const body: Record<string, unknown> = { ...request, messages: writeMessages(sent, host, quirks) }
  if (request.extra_content !== undefined) delete body['extra_content']
  if (tools !== undefined) setTools(body, tools)
  if (request.model === '') delete body['model']
  if (quirks.no_stream_options) delete body['stream_options']
  setTokenLimit(body, host, quirks)
  for (const name of lostSampling(request, endpoint)) delete body[name]
  if (host === mistralHost) renameSeed(body)
  return wireRequest(request, endpoint, body)
}

/** OpenRouter passes Anthropic's marks on to its models (https://openrouter.ai/docs/features/prompt-caching). */
function isMarkable(host: string, model: string): boolean {
  return host === 'openrouter.ai' && model.startsWith('anthropic/')
}

/** Marks the last text of a message that ends the part of the request that is cached. */
function withMark(message: Message): Message {
  if (!endsPrefix(message) || message.content === null) return message
  const { content } = message
  const parts: readonly ContentPart[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  const at = parts.findLastIndex(({ type }) => type === 'text')
  const marked = parts.map((part, place) => (place === at ? { ...part, cache_control: { type: 'ephemeral' } } : part))
  return { ...message, content: marked }
}

/** A list that nothing is left of is refused, and a choice without it too. */
function setTools(body: Record<string, unknown>, tools: NonNullable<ChatRequest['tools']>): void {
  const kept = tools.filter(notForeign).map((tool) => withoutExtra(tool))
  if (kept.length > 0 || tools.length === 0) body['tools'] = kept
  else {
    delete body['tools']
    delete body['tool_choice']
    delete body['parallel_tool_calls']
  }
}

function writeMessages(messages: readonly Message[], host: string, quirks: Quirks): readonly Message[] {
  // Mistral answers 422 to OpenAI's newer name of the role.
  const systemAs = quirks.system_as ?? (host === mistralHost ? 'system' : undefined)
  const named = quirks.tool_id_pattern ? renameToolIds(messages, quirks.tool_id_pattern) : messages
  const strict = isStrict(host)
  if (
    named === messages &&
    !systemAs &&
    !messages.some((message) => needsWork(message, strict) || hasToolMedia(message))
  )
    return messages
  return withoutToolMedia(named, host).map((message) => {
    const plain = needsWork(message, strict) ? writeMessage(message, host) : message
    const isSystem = plain.role === 'system' || plain.role === 'developer'
    return systemAs && isSystem && plain.role !== systemAs ? { ...plain, role: systemAs } : plain
  })
}

/**
 * The results of tools are text alone (https://platform.openai.com/docs/api-reference/chat/create): the pictures, sounds and
 * files in them follow the last result of the turn as the user's, behind the name of their call.
 */
function withoutToolMedia(messages: readonly Message[], host: string): readonly Message[] {
  if (!messages.some(hasToolMedia)) return messages
  const names = answeredNames(messages)
  let waiting: ContentPart[] = []
  const placed = messages.flatMap((message): Message[] => {
    const before = message.role === 'tool' ? [] : shownBy(waiting, host)
    if (message.role !== 'tool') waiting = []
    if (!hasToolMedia(message)) return [...before, message]
    const parts = message.content as readonly ContentPart[]
    const call = `${names.get(message) ?? 'a tool'} (${message.tool_call_id ?? 'no id'})`
    waiting = [...waiting, textPart(`From the result of ${call}:`), ...parts.filter(isMedia)]
    const texts = parts.filter((part) => !isMedia(part))
    return [{ ...message, content: texts.length > 0 ? texts : '[The result follows as a message of the user.]' }]
  })
  return [...placed, ...shownBy(waiting, host)]
}

/** Mistral refuses a message of the user's that follows a tool's (its code 3230): an answer stands between them. */
function shownBy(parts: readonly ContentPart[], host: string): readonly Message[] {
  if (parts.length === 0) return []
  const between: readonly Message[] =
    host === mistralHost ? [{ role: 'assistant', content: 'Show me the result.' }] : []
  return [...between, { role: 'user', content: parts }]
}

function textPart(text: string): ContentPart {
  return { type: 'text', text }
}

function hasToolMedia(message: Message): boolean {
  return message.role === 'tool' && Array.isArray(message.content) && message.content.some(isMedia)
}

function isMedia(part: ContentPart): boolean {
  return mediaKind(part) !== undefined
}

function needsWork(message: Message, strict: boolean): boolean {
  if (message.extra_content || message.reasoning_details) return true
  if (message.tool_calls?.some((call) => call.extra_content)) return true
  if (
    Array.isArray(message.content) &&
    message.content.some((part) => part.type === 'foreign' || 'extra_content' in part)
  )
    return true
  return strict && message.role === 'assistant' && ofReplies.some((field) => field in message)
}

/** Fields of answers, which come back when a client returns them whole. */
const ofReplies = [
  'reasoning_content',
  'reasoning_details',
  'annotations',
  'refusal',
  'audio',
  'function_call',
  'images',
]

function writeMessage(message: Message, host: string): Message {
  const { content, tool_calls: calls } = message
  const strict = isStrict(host)
  const plain = withoutExtra(message, strict)
  return {
    ...(strict && message.role === 'assistant' ? dropEmpty(plain, host) : plain),
    ...(Array.isArray(content) && { content: writeParts(content, isSupportedMedia(message)) }),
    ...(isFailedTool(message) && { content: writeFailed(content) }),
    ...(calls && { tool_calls: calls.map((call) => withoutExtra(call, strict)) }),
  }
}

/** A failed tool's answer, marked in words: OpenAI has no other mark. */
function writeFailed(content: Message['content']): Message['content'] {
  if (!Array.isArray(content)) return `${failedTool}${(content as string | null) ?? ''}`
  return [{ type: 'text', text: failedTool }, ...(writeParts(content, true) ?? [])]
}

/**
 * Strict hosts never take thinking back; the other fields go only when they are empty. OpenAI itself takes back the fields
 * of its own answers, which its guides append to the conversation whole.
 */
function dropEmpty(message: Message, host: string): Message {
  const entries = Object.entries(message).filter(([name, value]) => {
    if (name === 'reasoning_content' || name === 'reasoning_details') return false
    if (host === 'api.openai.com' && (name === 'annotations' || name === 'refusal')) return true
    return !(ofReplies.includes(name) && (value === null || (Array.isArray(value) && value.length === 0)))
  })
  return Object.fromEntries(entries) as Message
}

function writeParts(parts: readonly ContentPart[], shown: boolean): readonly ContentPart[] | null {
  const strange = shown ? parts.find((part) => !notForeign(part)) : undefined
  if (strange) throw unsupportedMedia(strange, 'openai-chat')
  const kept = parts.filter(notForeign).map((part) => withoutExtra(part))
  return kept.length > 0 || parts.length === 0 ? kept : null
}

function notForeign(part: { readonly type: string }): boolean {
  return part.type !== 'foreign'
}

/**
 * OpenAI's reasoning models refuse `max_tokens` and want `max_completion_tokens`
 * (https://platform.openai.com/docs/api-reference/chat/create#chat-create-max_tokens); Mistral and GitHub know the old name only.
 */
function setTokenLimit(body: Record<string, unknown>, host: string, quirks: Quirks): void {
  const model = String(body['model'] ?? '')
  const byModel = isOpenai(host) && isReasoning(model) ? 'max_completion_tokens' : undefined
  const byHost = host === mistralHost || host === 'models.github.ai' ? 'max_tokens' : undefined
  const field = quirks.max_tokens_field ?? byModel ?? byHost
  if (!field) return
  const limit = body['max_completion_tokens'] ?? body['max_tokens']
  if (limit === undefined) return
  delete body['max_completion_tokens']
  delete body['max_tokens']
  body[field] = limit
}

/** Mistral refuses OpenAI's name for it (https://docs.mistral.ai/api/). */
function renameSeed(body: Record<string, unknown>): void {
  if (body['seed'] === undefined) return
  body['random_seed'] ??= body['seed']
  delete body['seed']
}
