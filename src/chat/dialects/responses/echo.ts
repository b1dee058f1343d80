import { createHash } from 'node:crypto'
import { weightOf } from '../../../formats/formats.ts'
import { compact, isObject, type JsonObject, objectOf, secondsOf } from '../../protocol/json-object.ts'
import type { ChatReply, ChatRequest, Usage } from '../../protocol/messages.ts'
import { extraOf } from '../shared/alternation.ts'
import { tokenLimitOf } from '../shared/request-writer.ts'
import { toolNames, writeToolChoice, writeTools } from './tools.ts'

/** The part of an answer that its response object and its items are named by. */
export type Outline = Pick<ChatReply, 'id' | 'created' | 'model'>

/** The id of the response to an answer: its own, where a provider of this dialect gave it one. The same answer gives the same id. */
export function responseId({ id, created, model }: Outline): string {
  return id.startsWith('resp_') ? id : `resp_${digestOf(`${id} ${created} ${model}`)}`
}

/** The id of the item at a place of a response, such as `msg_…`. */
export function itemId(prefix: string, response: string, index: number): string {
  return `${prefix}_${digestOf(response)}${index.toString(16).padStart(2, '0')}`
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 40)
}

/** The fields of a response object that tell how the answer ended. */
export interface Ending {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed'
  readonly output: readonly JsonObject[]
  readonly usage: Usage | undefined
  readonly reason?: string
  readonly error?: JsonObject
}

/** A response object with every field of its request, those left out with their defaults, as OpenAI's recordings show it. */
export function responseObject(outline: Outline, request: ChatRequest | undefined, ending: Ending): JsonObject {
  const { status, output, usage, reason, error } = ending
  const isOver = status !== 'in_progress'
  return {
    id: outline.id,
    object: 'response',
    created_at: secondsOf(outline.created),
    status,
    background: false,
    completed_at: status === 'completed' ? secondsOf(outline.created) : null,
    error: error ?? null,
    incomplete_details: reason === undefined ? null : { reason },
    ...echoOf(request),
    model: outline.model,
    output,
    usage: isOver && usage ? writeUsage(usage) : null,
  }
}

/** Characters of a request that its response repeats: a stream has them three times, each at a cost to the event loop. */
const mostRepeated = 512 * 1024

/** The names of a request's fields that its response leaves empty, since all together would be too long. */
export function unrepeatedFields(request: ChatRequest): readonly string[] {
  let left = mostRepeated
  return Object.entries(extraOf(request, 'responses')).flatMap(([name, value]) => {
    const weight = weightOf(value, left)
    if (weight > left) return [name]
    left -= weight
    return []
  })
}

function repeatedFields(request: ChatRequest): JsonObject {
  const own = extraOf(request, 'responses')
  const unrepeated = unrepeatedFields(request)
  if (unrepeated.length === 0) return own
  return { ...own, ...Object.fromEntries(unrepeated.map((name) => [name, emptyOf(own[name])])) }
}

function emptyOf(value: unknown): unknown {
  if (Array.isArray(value)) return []
  return isObject(value) ? {} : null
}

/** The fields of a request that a response repeats, with OpenAI's defaults. */
function echoOf(request: ChatRequest | undefined): JsonObject {
  const own = request ? repeatedFields(request) : {}
  const given = (name: string, otherwise: unknown) => own[name] ?? otherwise
  return {
    frequency_penalty: given('frequency_penalty', 0),
    instructions: given('instructions', null),
    max_output_tokens: given('max_output_tokens', (request && tokenLimitOf(request)) ?? null),
    max_tool_calls: given('max_tool_calls', null),
    metadata: given('metadata', {}),
    parallel_tool_calls: given('parallel_tool_calls', request?.parallel_tool_calls ?? true),
    presence_penalty: given('presence_penalty', 0),
    previous_response_id: given('previous_response_id', null),
    prompt_cache_key: given('prompt_cache_key', null),
    reasoning: { effort: request?.reasoning_effort ?? null, summary: null, ...objectOf(own['reasoning']) },
    safety_identifier: given('safety_identifier', null),
    service_tier: given('service_tier', 'default'),
    store: given('store', true),
    temperature: given('temperature', request?.temperature ?? 1),
    text: { format: { type: 'text' }, verbosity: 'medium', ...compact(objectOf(own['text'])) },
    tool_choice: given('tool_choice', choiceOf(request)),
    tools: given('tools', (request && writeTools(request.tools)) ?? []),
    top_logprobs: given('top_logprobs', 0),
    top_p: given('top_p', request?.top_p ?? 1),
    truncation: given('truncation', 'disabled'),
    user: given('user', null),
    ...(isObject(own['conversation']) && { conversation: own['conversation'] }),
  }
}

function choiceOf(request: ChatRequest | undefined): unknown {
  return (request && writeToolChoice(request.tool_choice, toolNames(request))) ?? 'auto'
}

/** Token counts with every field that clients read, zeros too. */
export function writeUsage(usage: Usage): JsonObject {
  const { prompt_tokens_details: prompt, completion_tokens_details: completion } = usage
  return {
    input_tokens: usage.prompt_tokens,
    input_tokens_details: {
      cached_tokens: prompt?.cached_tokens ?? 0,
      cache_write_tokens: prompt?.cache_write_tokens ?? 0,
    },
    output_tokens: usage.completion_tokens,
    output_tokens_details: { reasoning_tokens: completion?.reasoning_tokens ?? 0 },
    total_tokens: usage.total_tokens,
  }
}
