import type { ClientError } from '../../protocol/dialect.ts'
import {
  argumentsText,
  countOf,
  isObject,
  type JsonObject,
  objectOf,
  objectsOf,
  secondsOf,
  stringOf,
  wholeOf,
} from '../../protocol/json-object.ts'
import type { ChatReply, Choice, FinishReason, Message, ToolCall, Usage } from '../../protocol/messages.ts'
import { generatedId } from '../shared/tool-ids.ts'
import { malformedResponse, throwIfError } from '../shared/wire-error.ts'
import { splitContent, withFittingFields, withoutExtra } from './content.ts'

/** Reads an answer of OpenAI's dialect, with the differences of Groq, Mistral, OpenRouter and Azure. */
export function readResponse(body: unknown): ChatReply {
  throwIfError(body)
  const fields = objectOf(body)
  if (isPlain(fields)) return fields as unknown as ChatReply
  const choices = objectsOf(fields['choices'])
  if (choices.length === 0) throw malformedResponse('it holds no choices')
  const usage = readUsage(fields)
  return {
    ...fields,
    id: stringOf(fields['id']) ?? '',
    object: 'chat.completion',
    created: secondsOf(fields['created']),
    model: stringOf(fields['model']) ?? '',
    choices: choices.map(readChoice),
    ...(usage && { usage }),
  } as ChatReply
}

/** Whether an answer is as we write it ourselves, so that it continues as it came: known finishes, whole counts. */
function isPlain(fields: JsonObject): boolean {
  const { id, object, created, model, choices, usage } = fields
  if (typeof id !== 'string' || object !== 'chat.completion' || typeof model !== 'string') return false
  if (secondsOf(created) !== created || !Array.isArray(choices) || choices.length === 0) return false
  if (fields['extra_content'] !== undefined || fields['x_groq'] !== undefined) return false
  for (let position = 0; position < choices.length; position++)
    if (!isPlainChoice(choices[position], position)) return false
  return usage === undefined || isPlainUsage(usage)
}

function isPlainUsage(usage: unknown): boolean {
  if (!isObject(usage)) return false
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage
  return [prompt, completion, total].every((count) => typeof count === 'number' && wholeOf(count) === count)
}

function isPlainChoice(choice: unknown, position: number): boolean {
  if (!isObject(choice) || choice['index'] !== position || choice['error'] !== undefined) return false
  const { message, finish_reason: reason } = choice
  if (typeof reason !== 'string' || finishReasons.get(reason) !== reason || choice['extra_content'] !== undefined)
    return false
  return isObject(message) && message['role'] === 'assistant' && isPlainText(message)
}

/** Whether a message holds a text and otherwise only fields that clients of OpenAI expect there. */
function isPlainText(message: JsonObject): boolean {
  for (const name in message) if (!plainFields.has(name)) return false
  const { content, refusal } = message
  return typeof content === 'string' && (refusal === undefined || refusal === null || typeof refusal === 'string')
}

const plainFields: ReadonlySet<string> = new Set(['role', 'content', 'refusal', 'annotations'])

/** Our answer is OpenAI's, without the fields of other dialects. */
export function writeResponse(reply: ChatReply): Record<string, unknown> {
  const plain = withoutExtra(reply)
  const choices = reply.choices.map((choice) => {
    const message = withoutExtra(choice.message)
    const calls = message.tool_calls?.map((call) => withoutExtra(call))
    return { ...withoutExtra(choice), message: { ...message, ...(calls && { tool_calls: calls }) } }
  })
  return { ...plain, choices }
}

const finishReasons: ReadonlyMap<unknown, FinishReason> = new Map<unknown, FinishReason>([
  ['stop', 'stop'],
  ['length', 'length'],
  ['model_length', 'length'],
  ['tool_calls', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['error', 'error'],
])

/** Their finish reason as ours; a name that is not known ended the answer somehow, so it counts as `stop`. */
export function readFinish(reason: unknown): FinishReason {
  return finishReasons.get(reason) ?? 'stop'
}

/** The token counts of an answer or chunk, from `usage`, or else from Groq's `x_groq.usage`. */
export function readUsage(fields: JsonObject): Usage | undefined {
  const raw = isObject(fields['usage']) ? fields['usage'] : objectOf(fields['x_groq'])['usage']
  if (!isObject(raw)) return undefined
  const prompt = countOf(raw['prompt_tokens'])
  const completion = countOf(raw['completion_tokens'])
  return {
    ...raw,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: wholeOf(raw['total_tokens']) ?? prompt + completion,
  }
}

function readChoice(choice: JsonObject, position: number): Choice {
  throwIfError({ error: choice['error'] })
  // Azure leaves out the message of an answer that its filter took away.
  if (!isObject(choice['message']) && typeof choice['finish_reason'] !== 'string')
    throw malformedResponse('a choice holds no message')
  const message = readMessage(objectOf(choice['message']))
  return {
    ...choice,
    index: wholeOf(choice['index']) ?? position,
    message,
    finish_reason:
      choice['finish_reason'] == null && message.tool_calls?.length
        ? 'tool_calls'
        : readFinish(choice['finish_reason']),
  }
}

function readMessage(raw: JsonObject): Message {
  const wire = withFittingFields(raw)
  const { content, tool_calls: calls, function_call: legacy, ...rest } = wire
  const split = Array.isArray(content) ? splitContent(content) : undefined
  const reasoning = stringOf(wire['reasoning_content']) ?? stringOf(wire['reasoning']) ?? (split?.thinking || undefined)
  const toolCalls = readCalls(calls, legacy)
  return {
    ...rest,
    ...(legacy !== undefined && { function_call: legacy }),
    role: 'assistant',
    content: split ? split.text : (stringOf(content) ?? null),
    ...(reasoning && { reasoning_content: reasoning }),
    ...(toolCalls && { tool_calls: toolCalls }),
  }
}

function readCalls(calls: unknown, legacy: unknown): readonly ToolCall[] | undefined {
  const found = objectsOf(calls)
  if (found.length === 0) {
    if (!isObject(legacy)) return undefined
    return [readCall({ function: legacy }, 0)]
  }
  return found.map(readCall)
}

function readCall(call: JsonObject, position: number): ToolCall {
  const wire = objectOf(call['function'])
  const name = stringOf(wire['name']) ?? ''
  if (name === '' && call['custom'] === undefined) throw malformedResponse('a call has no name')
  return {
    ...call,
    id: stringOf(call['id']) || generatedId(name, position),
    type: (call['type'] ?? 'function') as 'function',
    // A custom tool's call has `custom` instead, and stays as it is.
    ...(call['custom'] === undefined && { function: { ...wire, name, arguments: argumentsText(wire['arguments']) } }),
  } as ToolCall
}

/**
 * `{error:{message,type,param,code}}`, in a stream an event of its own: OpenAI's clients throw on it. Beside `choices`, as
 * OpenRouter writes it, `@ai-sdk/openai` reads an ordinary chunk in it and ends as if nothing had happened.
 */
export function writeError(error: ClientError): { error: Record<string, unknown> } {
  const { message, type = 'server_error', param = null, code = null } = error
  return { error: { message, type, param, code } }
}
