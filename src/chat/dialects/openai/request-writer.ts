import type { Quirks, WireRequest } from '../../protocol/dialect.ts'
import { isObject, type JsonObject } from '../../protocol/json-object.ts'
import type { ChatRequest, ContentPart, ExtraContent, Message } from '../../protocol/messages.ts'
import { failedTool, isFailedTool } from '../shared/alternation.ts'
import { isSupportedMedia, unsupportedMedia } from '../shared/media-support.ts'
import { checkedRequest, requestBody } from '../shared/request-check.ts'
import { renameToolIds } from '../shared/tool-ids.ts'

/** Our request is OpenAI's, so writing it means taking out what OpenAI's dialect cannot say and bending it to the provider. */
export function writeOpenaiRequest(request: ChatRequest, endpoint: string, quirks: Quirks = {}): WireRequest {
  const host = hostOf(endpoint)
  const { extra_content: _extra, messages, tools, ...rest } = request
  const body: Record<string, unknown> = { ...rest, messages: writeMessages(messages, host, quirks) }
  if (tools !== undefined) setTools(body, tools)
  if (request.model === '') delete body['model']
  if (quirks.no_stream_options) delete body['stream_options']
  setTokenLimit(body, host, quirks)
  for (const name of lostSampling(request, endpoint)) delete body[name]
  if (host === mistralHost) renameSeed(body)
  return {
    url: endpoint.replaceAll('{model}', encodeURIComponent(request.model)),
    headers: { 'content-type': 'application/json' },
    body,
  }
}

/** Reads a request in OpenAI's dialect: the same body, once it is seen to be one. Azure's has no model: its address does. */
export function readOpenaiRequest(body: unknown): ChatRequest {
  const { fields, turns } = requestBody(body, 'messages')
  const model = fields['model'] ?? ''
  const { tools, ...rest } = fields
  const messages = turns.some(hasNulls) ? turns.map(withoutNulls) : turns
  return checkedRequest({ ...rest, messages, ...(tools !== null && tools !== undefined && { tools }), model })
}

/** Some clients send every field that a message can have, and null in those that it has not. */
function hasNulls(message: JsonObject): boolean {
  for (const name in message) if (message[name] === null && name !== 'content') return true
  return false
}

function withoutNulls(message: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(message).filter(([name, value]) => value !== null || name === 'content'))
}

/** The host of an endpoint; "" where it is no address. Endpoints are few and repeat: reading one costs 3 of a chat's 130 µs. */
function hostOf(endpoint: string): string {
  let host = hosts.get(endpoint)
  if (host === undefined) {
    host = URL.canParse(endpoint) ? new URL(endpoint).hostname : ''
    if (hosts.size >= mostHosts) hosts.clear()
    hosts.set(endpoint, host)
  }
  return host
}

const hosts = new Map<string, string>()
const mostHosts = 500

/** A list that nothing is left of is refused, and a choice without it too. */
function setTools(body: Record<string, unknown>, tools: NonNullable<ChatRequest['tools']>): void {
  const kept = tools.filter(notForeign).map((tool) => withoutExtra(tool))
  if (kept.length > 0 || tools.length === 0) body['tools'] = kept
  else {
    delete body['tool_choice']
    delete body['parallel_tool_calls']
  }
}

/** These refuse a request for fields that they do not know, so what other providers left in a message is taken out. */
const strictHosts = [
  'api.openai.com',
  'api.groq.com',
  'api.mistral.ai',
  'models.github.ai',
  'models.inference.ai.azure.com',
]

const mistralHost = 'api.mistral.ai'

function isStrict(host: string): boolean {
  return strictHosts.includes(host) || host.endsWith('.openai.azure.com')
}

function isOpenai(host: string): boolean {
  return host === 'api.openai.com' || host.endsWith('.openai.azure.com')
}

function writeMessages(messages: readonly Message[], host: string, quirks: Quirks): readonly Message[] {
  // Mistral answers 422 to OpenAI's newer name of the role.
  const systemAs = quirks.system_as ?? (host === mistralHost ? 'system' : undefined)
  const named = quirks.tool_id_pattern ? renameToolIds(messages, quirks.tool_id_pattern) : messages
  const strict = isStrict(host)
  return (strict ? withoutToolImages(named) : named).map((message) => {
    const plain = needsWork(message, strict) ? writeMessage(message, host) : message
    const isSystem = plain.role === 'system' || plain.role === 'developer'
    return systemAs && isSystem && plain.role !== systemAs ? { ...plain, role: systemAs } : plain
  })
}

/**
 * OpenAI takes pictures from the user only. Those in the answers of tools, which Anthropic's clients send, follow the
 * answers as the user's.
 */
function withoutToolImages(messages: readonly Message[]): readonly Message[] {
  if (!messages.some(hasToolImage)) return messages
  let waiting: ContentPart[] = []
  const placed = messages.flatMap((message): Message[] => {
    const before = message.role === 'tool' ? [] : shownBy(waiting)
    if (message.role !== 'tool') waiting = []
    if (!hasToolImage(message)) return [...before, message]
    const parts = message.content as readonly ContentPart[]
    waiting = [...waiting, ...parts.filter(isImage)]
    return [{ ...message, content: parts.filter((part) => !isImage(part)) }]
  })
  return [...placed, ...shownBy(waiting)]
}

function shownBy(images: readonly ContentPart[]): readonly Message[] {
  return images.length > 0 ? [{ role: 'user', content: images }] : []
}

function hasToolImage(message: Message): boolean {
  return message.role === 'tool' && Array.isArray(message.content) && message.content.some(isImage)
}

function isImage(part: ContentPart): boolean {
  return part.type === 'image_url'
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

/** What stands in the messages of answers only, and comes back when a client returns them whole. */
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

/** What a tool that failed says, marked in words: OpenAI has no other mark. */
function writeFailed(content: Message['content']): Message['content'] {
  if (!Array.isArray(content)) return `${failedTool}${(content as string | null) ?? ''}`
  return [{ type: 'text', text: failedTool }, ...(writeParts(content, true) ?? [])]
}

/**
 * Thinking is never taken back by a strict host; the other fields go only when they hold nothing. OpenAI itself takes back
 * what its own answers hold, which its guides append to the conversation whole.
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

const ownNames = ['anthropic', 'gemini', 'ollama']

/**
 * A thing without what only other dialects understand. `extra_content.google` stays, for Gemini's own service in OpenAI's
 * dialect and gateways before it, unless the host is one that refuses it.
 */
export function withoutExtra<T extends object>(thing: T, strict = false): T {
  const extra = (thing as { extra_content?: ExtraContent }).extra_content
  if (extra === undefined) return thing
  const { extra_content: _extra, ...rest } = thing as T & { extra_content?: ExtraContent }
  const kept = strict || !isObject(extra) ? [] : Object.entries(extra).filter(([name]) => !ownNames.includes(name))
  return (kept.length > 0 ? { ...rest, extra_content: Object.fromEntries(kept) } : rest) as T
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

/** The o series and gpt-5 and later, but for the chat-tuned ones. */
function isReasoning(model: string): boolean {
  return /^(?:ft:)?(?:o\d|gpt-(?:[5-9]|\d\d))/.test(model) && !/^gpt-5-chat/.test(model)
}

/** From gpt-5.1 on, sampling is allowed again where reasoning is turned off (OpenAI's page "Using GPT-5.2"). */
function refusesSampling(request: ChatRequest): boolean {
  return isReasoning(request.model) && !(request.reasoning_effort === 'none' && /^gpt-/.test(request.model))
}

/** Mistral refuses OpenAI's name for it (https://docs.mistral.ai/api/). */
function renameSeed(body: Record<string, unknown>): void {
  if (body['seed'] === undefined) return
  body['random_seed'] ??= body['seed']
  delete body['seed']
}

/** The values that change nothing, which these models accept. */
const neutral: Readonly<Record<string, unknown>> = {
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  logprobs: false,
  top_logprobs: undefined,
  logit_bias: undefined,
}

/** The fields that OpenAI's reasoning models refuse, as far as they ask for something. */
export function lostSampling(request: ChatRequest, endpoint: string): readonly string[] {
  if (!isReasoning(request.model) || !refusesSampling(request) || !isOpenai(hostOf(endpoint))) return []
  return Object.keys(neutral).filter((name) => {
    const value = request[name]
    return value !== undefined && value !== null && value !== neutral[name]
  })
}
