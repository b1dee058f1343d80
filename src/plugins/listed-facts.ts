import { type ModelRow, valueAt } from './catalog.ts'
import { factsIn, type ModelFacts } from './model-facts.ts'

/**
 * The fields in which providers' lists say a fact, in the order in which they are looked up. OpenRouter:
 * https://openrouter.ai/docs/api-reference/list-available-models; Anthropic: https://docs.anthropic.com/en/api/models-list;
 * Gemini: https://ai.google.dev/api/models; Mistral: https://docs.mistral.ai/api; Groq: https://console.groq.com/docs/models;
 * GitHub's catalog; vLLM (`max_model_len`) and llama.cpp (`meta.n_ctx_train`) at `/v1/models`.
 */
const windows = [
  'top_provider.context_length',
  'context_length',
  'context_window',
  'max_context_length',
  'max_input_tokens',
  'inputTokenLimit',
  'limits.max_input_tokens',
  'max_model_len',
  'meta.n_ctx_train',
]
const answers = [
  'top_provider.max_completion_tokens',
  'max_completion_tokens',
  'outputTokenLimit',
  'limits.max_output_tokens',
  'max_tokens',
]
const names = ['display_name', 'displayName', 'name']
const inputs = ['architecture.input_modalities', 'input_modalities', 'supported_input_modalities']
const features = ['supported_parameters', 'supported_features']
const ends = ['expiration_date', 'deprecation', 'shutdown_date']

/** The facts in a row of a provider's list. A list of abilities that lacks one says no; an empty or missing one says nothing. */
export function factsOfRow(row: ModelRow): ModelFacts {
  const takes = listAt(row, inputs)
  const does = listAt(row, features)
  const named = listAt(row, ['capabilities'])
  const can = (capability: string) => truthAt(row, `capabilities.${capability}`)
  return factsIn({
    display_name: firstAt(row, names, (value) => typeof value === 'string' && value !== '' && value.length <= 200),
    context_window: firstAt(row, windows, isCount),
    max_output: firstAt(row, answers, isCount),
    images: takes?.includes('image') ?? can('vision') ?? can('image_input'),
    // OpenRouter reads a file for every model; those of its list take it as it is.
    pdf: (takes?.includes('file') || undefined) ?? can('pdf_input'),
    audio: takes?.includes('audio') ?? can('audio'),
    tools: does?.includes('tools') ?? named?.includes('tool-calling') ?? can('function_calling'),
    thinking:
      does?.includes('reasoning') ??
      named?.includes('reasoning') ??
      can('thinking') ??
      can('reasoning') ??
      truthAt(row, 'thinking'),
    structured_output:
      does?.some((name) => name === 'structured_outputs' || name === 'json_schema') ?? can('structured_outputs'),
    temperature: listAt(row, ['supported_parameters'])?.includes('temperature'),
    retired: dayOf(firstAt(row, ends, (value) => typeof value === 'string')),
  })
}

function dayOf(date: unknown): string | undefined {
  const time = Date.parse(String(date))
  return Number.isNaN(time) ? undefined : new Date(time).toISOString().slice(0, 10)
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0
}

function firstAt(row: ModelRow, paths: readonly string[], isGood: (value: unknown) => boolean): unknown {
  return paths.map((path) => valueAt(row, path)).find(isGood)
}

function listAt(row: ModelRow, paths: readonly string[]): readonly unknown[] | undefined {
  return paths
    .map((path) => valueAt(row, path))
    .find((value): value is unknown[] => Array.isArray(value) && value.length > 0)
}

/** A capability as lists say it: `true`, or Anthropic's `{"supported":true}`. */
function truthAt(row: ModelRow, path: string): boolean | undefined {
  const value = valueAt(row, path)
  const said = typeof value === 'object' ? valueAt(value, 'supported') : value
  return typeof said === 'boolean' ? said : undefined
}

/**
 * The facts in Ollama's answer to /api/show (https://docs.ollama.com/api-reference/show-model-details), or in a row of its
 * list, which has the capabilities alone. The names of `model_info` begin with the architecture.
 */
export function factsOfShow(answer: unknown): ModelFacts {
  if (typeof answer !== 'object' || answer === null) return {}
  const { model_info: info, capabilities } = answer as ModelRow
  const window = Object.entries(typeof info === 'object' ? (info ?? {}) : {}).find(([name]) =>
    name.endsWith('.context_length'),
  )
  const can = (name: string) => (Array.isArray(capabilities) ? capabilities.includes(name) : undefined)
  return factsIn({
    context_window: window?.[1],
    images: can('vision'),
    audio: can('audio'),
    tools: can('tools'),
    thinking: can('thinking'),
  })
}
