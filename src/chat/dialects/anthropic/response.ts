import type { ClientError } from '../../protocol/dialect.ts'
import {
  countOf,
  isObject,
  type JsonObject,
  objectOf,
  objectsOf,
  restOf,
  stringOf,
} from '../../protocol/json-object.ts'
import type { ChatReply, Choice, FinishReason, Message, Usage } from '../../protocol/messages.ts'
import { extraOf, withExtra } from '../shared/alternation.ts'
import { malformedResponse, statusOf, throwIfError } from '../shared/wire-error.ts'
import { readAssistant, writeAssistant } from './content.ts'

/** Reads an answer of Anthropic's; `now` in milliseconds dates it, because Anthropic does not. */
export function readResponse(body: unknown, now = Date.now()): ChatReply {
  throwIfError(body)
  const fields = objectOf(body)
  if (!Array.isArray(fields['content'])) throw malformedResponse('it holds no content')
  const blocks = objectsOf(fields['content'])
  if (blocks.some((block) => block['type'] === 'tool_use' && !stringOf(block['name'])))
    throw malformedResponse('a call has no name')
  const refusal = explanationOf(fields)
  const message = { ...readAssistant(blocks), ...(refusal !== undefined && { refusal }) }
  return {
    id: stringOf(fields['id']) ?? '',
    object: 'chat.completion',
    created: Math.floor(now / 1000),
    model: stringOf(fields['model']) ?? '',
    choices: [{ index: 0, message, finish_reason: readFinish(fields['stop_reason'], message) }],
    ...(isObject(fields['usage']) && { usage: readUsage(fields['usage']) }),
    ...withExtra('anthropic', restOf(fields, replyFields)),
  }
}

/** Why Anthropic's filter ended an answer, in words that its page on refusals gives for showing to a user. */
export function explanationOf(ending: JsonObject): string | undefined {
  return ending['stop_reason'] === 'refusal'
    ? stringOf(objectOf(ending['stop_details'])['explanation']) || undefined
    : undefined
}

const replyFields = new Set(['id', 'type', 'role', 'content', 'model'])

/** Our answer as Anthropic's message. */
export function writeResponse(reply: ChatReply): Record<string, unknown> {
  const choice = reply.choices[0]
  const extra = extraOf(reply, 'anthropic')
  return {
    id: reply.id,
    type: 'message',
    role: 'assistant',
    model: reply.model,
    content: choice ? writeContent(withoutExplanation(choice.message, extra)) : [],
    stop_sequence: null,
    ...extra,
    stop_reason: extra['stop_reason'] ?? writeFinish(choice?.finish_reason ?? 'stop', choice?.message),
    usage: writeUsage(reply.usage, extra['usage']),
  }
}

/**
 * Anthropic's stop reasons (https://docs.anthropic.com/en/api/handling-stop-reasons) as ours. `pause_turn` asks to be
 * called again and has no counterpart; a name that is not known ended the answer somehow.
 */
export function readFinish(reason: unknown, message: Message | undefined): FinishReason {
  if (reason === 'max_tokens' || reason === 'model_context_window_exceeded') return 'length'
  if (reason === 'refusal') return 'content_filter'
  if (reason === 'error') return 'error'
  if (reason === 'tool_use') return 'tool_calls'
  return typeof reason !== 'string' && message?.tool_calls ? 'tool_calls' : 'stop'
}

/**
 * Our finish reason as Anthropic's. OpenAI gives `stop` after a forced call and for a refusal; Anthropic's clients go by
 * the stop reason. Anthropic has no name for an answer that ended in an error, so `error` is passed on.
 */
export function writeFinish(
  reason: FinishReason,
  message: Pick<Message, 'tool_calls' | 'refusal'> | undefined,
): string {
  if (reason === 'length') return 'max_tokens'
  if (reason === 'content_filter' || message?.refusal) return 'refusal'
  if (reason === 'error') return 'error'
  return reason === 'tool_calls' || message?.tool_calls?.length ? 'tool_use' : 'end_turn'
}

/** In words, that an answer ended with an error, and with which: Gemini names it, and OpenRouter gives its provider's name. */
export function badEnding(choice: Pick<Choice, 'extra_content'> & JsonObject): string {
  const { finishReason, finishMessage } = extraOf(choice, 'gemini')
  const name = stringOf(finishReason) ?? stringOf(choice['native_finish_reason'])
  const words = [name, stringOf(finishMessage)].filter(Boolean).join(': ').slice(0, 500)
  return `The model ended its answer with an error${words ? `: ${words}` : ''}`
}

/** Anthropic counts tokens read from and written to the cache in addition to the input; OpenAI includes them. */
export function readUsage(usage: JsonObject): Usage {
  const cached = countOf(usage['cache_read_input_tokens'])
  const written = countOf(usage['cache_creation_input_tokens'])
  const prompt = countOf(usage['input_tokens']) + cached + written
  const completion = countOf(usage['output_tokens'])
  const thinking = objectOf(usage['output_tokens_details'])['thinking_tokens']
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
    ...(typeof thinking === 'number' && { completion_tokens_details: { reasoning_tokens: thinking } }),
  }
}

/** The same backwards; `own` is Anthropic's usage where the answer came from there. */
export function writeUsage(usage: Usage | undefined, own?: unknown): JsonObject {
  const cached = countOf(usage?.prompt_tokens_details?.cached_tokens)
  const written = countOf(usage?.prompt_tokens_details?.cache_write_tokens)
  return {
    ...objectOf(own),
    input_tokens: Math.max(0, (usage?.prompt_tokens ?? 0) - cached - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    output_tokens: usage?.completion_tokens ?? 0,
  }
}

/**
 * `{type:"error",error:{type,message,details?}}`; the types are those of https://docs.anthropic.com/en/api/errors. A code
 * of another dialect's stands where Anthropic puts its own, in `details.error_code`.
 */
export function writeError(error: ClientError): { type: 'error'; error: Record<string, unknown> } {
  const {
    type: wireType = '',
    message,
    code,
    param,
    details = code === undefined ? undefined : ownDetails(code, param),
  } = error
  const status = statusOf(error)
  // OpenAI has one type for most refusals: the status is more precise. In a stream the type is.
  const byStatus = errorTypes[status]
  const type = byStatus && status < 500 ? byStatus : ownTypes.has(wireType) ? wireType : (byStatus ?? otherType(status))
  return { type: 'error', error: { type, message: worded(message, code), ...(details && { details }) } }
}

function ownDetails(code: string, param: string | undefined): JsonObject {
  return { error_code: code, ...(param !== undefined && { param }) }
}

/** Claude Code shortens its conversation where it reads these words, and gives up where it reads OpenAI's. */
function worded(message: string, code: string | undefined): string {
  const isLong = code === 'context_length_exceeded' && !/prompt is too long/i.test(message)
  return isLong ? `prompt is too long: ${message}` : message
}

const errorTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

const ownTypes: ReadonlySet<string> = new Set(['invalid_request_error', 'api_error', ...Object.values(errorTypes)])

function otherType(status: number): string {
  return status >= 500 ? 'api_error' : 'invalid_request_error'
}

/** Anthropic's own explanation is next to its answer and is not part of the message. */
function withoutExplanation(message: Message, own: JsonObject): Message {
  return message.refusal && message.refusal === explanationOf(own) ? { ...message, refusal: null } : message
}

/** Unsigned thinking is shown to the client too; its empty signature keeps it from being sent back. */
function writeContent(message: Choice['message']): readonly JsonObject[] {
  const blocks = writeAssistant(message)
  const shown = blocks.some((block) => block['type'] === 'thinking')
  if (!message.reasoning_content || shown) return blocks
  return [{ type: 'thinking', thinking: message.reasoning_content, signature: '' }, ...blocks]
}
