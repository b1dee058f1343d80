import type { Dialect } from '../../protocol/dialect.ts'
import { isObject } from '../../protocol/json-object.ts'
import type { ChatRequest } from '../../protocol/messages.ts'

/** Fields that every dialect has, or that are addressed to aichat and not to the provider. */
const everywhere = [
  'model',
  'messages',
  'temperature',
  'top_p',
  'top_k',
  'max_tokens',
  'max_completion_tokens',
  'stop',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'functions',
  'function_call',
  'response_format',
  // Its dialect decides whether a model takes it; see lostEffort in unsupported.ts.
  'reasoning_effort',
  'extra_content',
]

/** OpenAI's fields that the writer of a dialect reads; OpenAI's own dialect passes every field on. */
const written: Readonly<Record<Exclude<Dialect['id'], 'openai-chat'>, ReadonlySet<string>>> = {
  'openai-responses': new Set([
    ...everywhere,
    ...['parallel_tool_calls', 'user', 'n', 'metadata', 'service_tier', 'safety_identifier', 'prompt_cache_key'],
    ...['prompt_cache_retention', 'top_logprobs', 'verbosity'],
  ]),
  // Several answers are refused there.
  'anthropic-messages': new Set([...everywhere, 'parallel_tool_calls', 'user', 'n']),
  gemini: new Set([...everywhere, 'n', 'seed', 'presence_penalty', 'frequency_penalty']),
  ollama: new Set([...everywhere, 'n', 'seed', 'presence_penalty', 'frequency_penalty']),
}

/** Fields that do not change an answer, each with the reason: a dialect without them leaves them out unnamed. */
export const harmless: Readonly<Record<string, string>> = {
  user: 'the end user, for the provider’s abuse detection',
  safety_identifier: 'the end user, for the provider’s abuse detection',
  metadata: 'labels that the provider keeps with a stored answer',
  prompt_cache_key: 'a cache hint: lower cost, same answer',
  prompt_cache_retention: 'a cache hint: lower cost, same answer',
  prompt_cache_options: 'a cache hint: lower cost, same answer',
  stream_options: 'which pieces of a stream are shown: ours to do',
  prediction: 'a guess of the answer, which makes it faster and nothing else',
}

/** Values that ask for nothing, or for the default. */
const neutral: Readonly<Record<string, readonly unknown[]>> = {
  n: [1],
  presence_penalty: [0],
  frequency_penalty: [0],
  logprobs: [false],
  top_logprobs: [0],
  parallel_tool_calls: [true],
  store: [false],
  service_tier: ['auto', 'default'],
  verbosity: ['medium'],
}

/** The fields of a request that a dialect cannot express, unless their value asks for nothing. */
export function unknownFields(request: ChatRequest, id: Dialect['id']): readonly string[] {
  if (id === 'openai-chat') return []
  return Object.keys(request).filter((name) => {
    return !written[id].has(name) && !Object.hasOwn(harmless, name) && isAsked(request[name], neutral[name] ?? [])
  })
}

function isAsked(value: unknown, nothing: readonly unknown[]): boolean {
  if (value === undefined || value === null || nothing.includes(value)) return false
  // Text is the default: `modalities: ["text"]`.
  if (Array.isArray(value)) return !value.every((item) => item === 'text')
  return !isObject(value) || Object.keys(value).length > 0
}
