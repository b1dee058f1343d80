import { weightOf } from '../../../formats/formats.ts'
import { type ClientError, DialectError, type WireError } from '../../protocol/dialect.ts'
import {
  compact,
  countOf,
  isObject,
  type JsonObject,
  objectOf,
  objectsOf,
  restOf,
  secondsOf,
  stringOf,
  wholeOf,
} from '../../protocol/json-object.ts'
import type { ChatReply, ChatRequest, Choice, FinishReason, Message, Usage } from '../../protocol/messages.ts'
import { badEnding } from '../anthropic/response.ts'
import { logprobsOf } from '../shared/logprobs.ts'
import { malformedResponse, readWireError, throwIfError } from '../shared/wire-error.ts'
import { responseId, responseObject } from './echo.ts'
import { logprobsIn, readTurn } from './items.ts'
import {
  encryptedDetail,
  mostItems,
  mostText,
  outputParts,
  type ResponseOptions,
  shownOutput,
  tooLongAnswer,
  writeOutput,
} from './output.ts'

/** Reads an answer of the Responses dialect. Throws a DialectError for a response that failed or is not finished. */
export function readResponse(body: unknown): ChatReply {
  throwIfError(body)
  const fields = objectOf(body)
  if (!Array.isArray(fields['output'])) throw malformedResponse('it holds no output')
  const output = objectsOf(fields['output'])
  if (output.some(isNameless)) throw malformedResponse('a call has no name')
  const message = readAnswer(output)
  const usage = readUsage(fields['usage'])
  const tier = stringOf(fields['service_tier'])
  const logprobs = output.filter((item) => item['type'] === 'message').flatMap(logprobsIn)
  return {
    id: stringOf(fields['id']) ?? '',
    object: 'chat.completion',
    created: secondsOf(fields['created_at']),
    model: stringOf(fields['model']) ?? '',
    choices: [
      {
        index: 0,
        message,
        finish_reason: readFinish(fields, message.tool_calls !== undefined),
        ...(logprobs.length > 0 && { logprobs: { content: logprobs, refusal: null } }),
      },
    ],
    ...(usage && { usage }),
    ...(tier !== undefined && { service_tier: tier }),
  }
}

/** Whether an item is a call that names no tool. */
export function isNameless(item: JsonObject): boolean {
  return (item['type'] === 'function_call' || item['type'] === 'custom_tool_call') && !stringOf(item['name'])
}

/** The output items as one message, its reasoning in words and in the encrypted pieces that the provider wants back. */
function readAnswer(output: readonly JsonObject[]): Message {
  const reasoning = output.filter((item) => item['type'] === 'reasoning')
  const text = reasoning
    .map((item) => reasoningText(item))
    .filter(Boolean)
    .join('\n\n')
  const details = reasoning.flatMap((item, index) => {
    const data = stringOf(item['encrypted_content'])
    return data ? [encryptedDetail(data, stringOf(item['id']), index)] : []
  })
  const message = readTurn(output)
  return {
    ...message,
    ...(text && { reasoning_content: text }),
    ...(details.length > 0 && { reasoning_details: details }),
  }
}

/** The words of a piece of reasoning: of one kind, or the raw ones where the provider shows them, else its summary. */
export function reasoningText(item: JsonObject, kind?: 'raw' | 'summary'): string {
  const wordsOf = (parts: unknown) => objectsOf(parts).flatMap((part) => stringOf(part['text']) || [])
  const raw = kind === 'summary' ? '' : wordsOf(item['content']).join('')
  return raw || (kind === 'raw' ? '' : wordsOf(item['summary']).join('\n\n'))
}

/** The end of a response as ours. Throws a DialectError for one that failed, was cancelled or continues. */
export function readFinish(response: JsonObject, hasCalls: boolean): FinishReason {
  const { status, incomplete_details: details } = response
  const reason = stringOf(objectOf(details)['reason'])
  if (status === 'failed' || status === 'cancelled') throw failedResponse(response)
  if (status === 'queued' || status === 'in_progress') throw malformedResponse('it is not finished')
  if (status === 'incomplete' || (reason !== undefined && status !== 'completed'))
    return reason === 'content_filter' ? 'content_filter' : 'length'
  return hasCalls ? 'tool_calls' : 'stop'
}

/** The error of a response that failed. */
export function failedResponse(response: JsonObject): DialectError {
  const error = readWireError({ error: response['error'] })
  const cancelled = response['status'] === 'cancelled' ? 'The provider cancelled its answer' : 'The provider failed'
  return new DialectError('reported', error ?? { message: cancelled })
}

const counts = new Set([
  ...['input_tokens', 'input_tokens_details', 'output_tokens', 'output_tokens_details', 'total_tokens'],
])

/** Token counts, where they are reported. */
export function readUsage(wire: unknown): Usage | undefined {
  if (!isObject(wire)) return undefined
  const prompt = countOf(wire['input_tokens'])
  const completion = countOf(wire['output_tokens'])
  const { input_tokens_details: input, output_tokens_details: output } = wire
  // Some services report the cost along with the counts.
  return {
    ...restOf(wire, counts),
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: wholeOf(wire['total_tokens']) ?? prompt + completion,
    ...(isObject(input) && {
      prompt_tokens_details: compact({
        ...input,
        cached_tokens: countOf(input['cached_tokens']),
        cache_write_tokens: countOf(input['cache_write_tokens']),
      }),
    }),
    ...(isObject(output) && {
      completion_tokens_details: { ...output, reasoning_tokens: countOf(output['reasoning_tokens']) },
    }),
  }
}

/** Our answer as a response object. `request` gives the fields that it repeats and the names of its tools. */
export function writeResponse(reply: ChatReply, request?: ChatRequest): Record<string, unknown> {
  return writeResponses(reply, request).shown
}

/**
 * The response as its client gets it, and as it is stored: with sealed reasoning in any case, so that a later request can go
 * on with it. Throws `protocol` for an answer of too many items or characters.
 */
export function writeResponses(
  reply: ChatReply,
  request?: ChatRequest,
  { id = responseId(reply), seal }: ResponseOptions = {},
): { readonly shown: Record<string, unknown>; readonly stored: Record<string, unknown> } {
  const [choice] = reply.choices
  const finish = choice?.finish_reason ?? 'stop'
  const ending = endingOf(finish, choice)
  const itemStatus = ending.status === 'completed' ? 'completed' : 'incomplete'
  const output = choice
    ? writeOutput(choice.message, itemStatus, outputParts(id, request, seal), logprobsOf(choice))
    : []
  if (output.length > mostItems) throw tooLongAnswer(`${mostItems} items`)
  if (weightOf(output, mostText) > mostText) throw tooLongAnswer(`${mostText} characters`)
  const stored = responseObject({ ...reply, id }, request, { ...ending, output, usage: reply.usage })
  return { shown: { ...stored, output: shownOutput(output, request) }, stored }
}

/** How a response ends for a finish reason of ours. */
export function endingOf(
  finish: FinishReason,
  choice?: Pick<Choice, 'extra_content'> & JsonObject,
): { readonly status: 'completed' | 'incomplete' | 'failed'; readonly reason?: string; readonly error?: JsonObject } {
  if (finish === 'length') return { status: 'incomplete', reason: 'max_output_tokens' }
  if (finish === 'content_filter') return { status: 'incomplete', reason: 'content_filter' }
  if (finish !== 'error') return { status: 'completed' }
  return { status: 'failed', error: { code: 'server_error', message: badEnding(choice ?? {}) } }
}

/** The error in a parsed body: one of any spelling, or that of a response that failed. */
export function readError(body: unknown): WireError | undefined {
  const fields = objectOf(body)
  return readWireError(fields['type'] === 'error' && !isObject(fields['error']) ? { error: fields } : body)
}

/** `{error:{message,type,param,code}}`. */
export function writeError(error: ClientError): { error: Record<string, unknown> } {
  const { message, type = 'server_error', param = null, code = null } = error
  return { error: { message, type, param, code } }
}
