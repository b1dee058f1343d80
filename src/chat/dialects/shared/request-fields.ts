import type { Dialect } from '../../protocol/dialect.ts'
import { isObject } from '../../protocol/json-object.ts'
import type { ChatRequest } from '../../protocol/messages.ts'

/** What every dialect has a word for, or what is said to us and not to the provider. */
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
  // Whether a model can take it is said by its dialect; see lostEffort in left-out.ts.
  'reasoning_effort',
  'extra_content',
]

/** OpenAI's fields that the writer of a dialect reads; OpenAI's own dialect passes every field on. */
const written: Readonly<Record<Exclude<Dialect['id'], 'openai-chat'>, ReadonlySet<string>>> = {
  // Several answers are refused there.
  'anthropic-messages': new Set([...everywhere, 'parallel_tool_calls', 'user', 'n']),
  gemini: new Set([...everywhere, 'n', 'seed', 'presence_penalty', 'frequency_penalty']),
  ollama: new Set([...everywhere, 'n', 'seed', 'presence_penalty', 'frequency_penalty']),
}

/** Fields that change nothing in what an answer says, each with the reason: a dialect without them leaves them out unnamed. */
export const harmless: Readonly<Record<string, string>> = {
  user: 'who asks, for the provider’s watch over misuse',
  safety_identifier: 'who asks, for the provider’s watch over misuse',
  metadata: 'labels that the provider keeps with a stored answer',
  prompt_cache_key: 'where the provider looks for what it has read before: it costs less, and says the same',
  prompt_cache_retention: 'how long the provider remembers what it has read: it costs less, and says the same',
  prompt_cache_options: 'how the provider remembers what it has read: it costs less, and says the same',
  stream_options: 'which pieces of a stream are shown: ours to do',
  prediction: 'a guess of the answer, which makes it faster and nothing else',
}

/** Values that ask for nothing, or for what happens anyway. */
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

/** The fields of a request that ask for something which a dialect has no word for. */
export function unknownFields(request: ChatRequest, id: Dialect['id']): readonly string[] {
  if (id === 'openai-chat') return []
  return Object.keys(request).filter((name) => {
    return !written[id].has(name) && !Object.hasOwn(harmless, name) && isAsked(request[name], neutral[name] ?? [])
  })
}

function isAsked(value: unknown, nothing: readonly unknown[]): boolean {
  if (value === undefined || value === null || nothing.includes(value)) return false
  // Words are what is answered in anyway: `modalities: ["text"]`.
  if (Array.isArray(value)) return !value.every((item) => item === 'text')
  return !isObject(value) || Object.keys(value).length > 0
}
