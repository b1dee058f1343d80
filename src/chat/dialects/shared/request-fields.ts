import type { Dialect } from '../../protocol/dialect.ts'
import { isObject, objectOf } from '../../protocol/json-object.ts'
import type { ChatRequest } from '../../protocol/messages.ts'
import { isHarmless } from './harmless-fields.ts'

/** The value of the Responses dialect's `include` that asks for the probabilities of tokens. */
export const includedLogprobs = 'message.output_text.logprobs'

type Body = Readonly<Record<string, unknown>>

/** Where the request sent has a field of our shape; undefined where it is not there. */
type Place = (sent: Body) => unknown

const config: (name: string) => Place = (name) => (sent) => objectOf(sent['generationConfig'])[name]
const option: (name: string) => Place = (name) => (sent) => objectOf(sent['options'])[name]
const field: (name: string) => Place = (name) => (sent) => sent[name]

/** The places of our fields in each dialect but OpenAI's, whose places are their own names. A field without a place is unknown there. */
const places: Readonly<Record<Exclude<Dialect['id'], 'openai-chat'>, Readonly<Record<string, Place>>>> = {
  'openai-responses': {
    ...Object.fromEntries(
      [
        ...['temperature', 'top_p', 'tool_choice', 'parallel_tool_calls', 'user', 'metadata', 'service_tier'],
        ...['safety_identifier', 'prompt_cache_key', 'prompt_cache_retention', 'top_logprobs'],
      ].map((name) => [name, field(name)]),
    ),
    max_tokens: field('max_output_tokens'),
    max_completion_tokens: field('max_output_tokens'),
    response_format: (sent) => objectOf(sent['text'])['format'],
    verbosity: (sent) => objectOf(sent['text'])['verbosity'],
    reasoning_effort: (sent) => objectOf(sent['reasoning'])['effort'],
    logprobs: ({ include }) => (Array.isArray(include) && include.includes(includedLogprobs)) || undefined,
  },
  'anthropic-messages': {
    temperature: field('temperature'),
    top_p: field('top_p'),
    top_k: field('top_k'),
    max_tokens: field('max_tokens'),
    max_completion_tokens: field('max_tokens'),
    stop: field('stop_sequences'),
    tool_choice: (sent) => objectOf(sent['tool_choice'])['type'],
    parallel_tool_calls: (sent) => objectOf(sent['tool_choice'])['disable_parallel_tool_use'],
    user: (sent) => objectOf(sent['metadata'])['user_id'],
    // JSON without a schema is asked for in words.
    response_format: (sent) => objectOf(sent['output_config'])['format'] ?? sent['output_format'] ?? sent['system'],
    reasoning_effort: (sent) => sent['thinking'] ?? objectOf(sent['output_config'])['effort'],
  },
  gemini: {
    temperature: config('temperature'),
    top_p: config('topP'),
    top_k: config('topK'),
    max_tokens: config('maxOutputTokens'),
    max_completion_tokens: config('maxOutputTokens'),
    stop: config('stopSequences'),
    seed: config('seed'),
    n: config('candidateCount'),
    presence_penalty: config('presencePenalty'),
    frequency_penalty: config('frequencyPenalty'),
    response_format: config('responseMimeType'),
    reasoning_effort: config('thinkingConfig'),
    logprobs: config('responseLogprobs'),
    top_logprobs: config('logprobs'),
    tool_choice: (sent) => objectOf(sent['toolConfig'])['functionCallingConfig'],
  },
  ollama: {
    temperature: option('temperature'),
    top_p: option('top_p'),
    top_k: option('top_k'),
    max_tokens: option('num_predict'),
    max_completion_tokens: option('num_predict'),
    stop: option('stop'),
    seed: option('seed'),
    presence_penalty: option('presence_penalty'),
    frequency_penalty: option('frequency_penalty'),
    response_format: field('format'),
    reasoning_effort: field('think'),
    logprobs: field('logprobs'),
    top_logprobs: field('top_logprobs'),
  },
}

const renamed: Readonly<Record<string, Place>> = {
  // Mistral's name for it.
  seed: (sent) => sent['seed'] ?? sent['random_seed'],
  max_tokens: (sent) => sent['max_tokens'] ?? sent['max_completion_tokens'],
  max_completion_tokens: (sent) => sent['max_completion_tokens'] ?? sent['max_tokens'],
}

/** Fields that are no setting of a model: each is written or named by itself, or is ours to do. */
const elsewhere: ReadonlySet<string> = new Set([...['model', 'messages', 'stream', 'tools', 'extra_content']])

/** Fields that a dialect knows and some of its models refuse. */
const refusable: ReadonlySet<string> = new Set([
  ...['temperature', 'top_p', 'top_k', 'presence_penalty', 'frequency_penalty', 'logit_bias', 'logprobs'],
  ...['top_logprobs', 'reasoning_effort'],
])

/** Values that ask for nothing, or for the default. */
const neutral: Readonly<Record<string, readonly unknown[]>> = {
  temperature: [1],
  top_p: [1],
  n: [1],
  presence_penalty: [0],
  frequency_penalty: [0],
  logprobs: [false],
  top_logprobs: [0],
  parallel_tool_calls: [true],
  tool_choice: ['auto'],
  reasoning_effort: ['', 'none'],
  store: [false],
  service_tier: ['auto', 'default'],
  verbosity: ['medium'],
}

/** The asked fields of our shape that are not in the request sent: unknown to the dialect, or refused by the model. */
export interface LostFields {
  readonly unknown: readonly string[]
  readonly refused: readonly string[]
}

/** Compares a request with the one sent for it. */
export function lostFields(request: ChatRequest, id: Dialect['id'], sent: Body): LostFields {
  let lost: string[] | undefined
  for (const name in request) {
    const place = id === 'openai-chat' ? (renamed[name] ?? field(name)) : places[id][name]
    if (elsewhere.has(name) || (place && place(sent) !== undefined) || isHarmless('ours', name)) continue
    if (isAsked(request[name], neutral[name] ?? [])) lost = [...(lost ?? []), name]
  }
  if (!lost) return nothing
  const isRefused = (name: string) => refusable.has(name) && (id === 'openai-chat' || name in places[id])
  return { unknown: lost.filter((name) => !isRefused(name)), refused: lost.filter(isRefused) }
}

const nothing: LostFields = { unknown: [], refused: [] }

function isAsked(value: unknown, nothing: readonly unknown[]): boolean {
  if (value === undefined || value === null || nothing.includes(value)) return false
  // Text is the default: `modalities: ["text"]`.
  if (Array.isArray(value)) return !value.every((item) => item === 'text')
  return !isObject(value) || (Object.keys(value).length > 0 && value['type'] !== 'text')
}
