import type { KeyPlace } from '../accounts/accounts.ts'
import { isObject } from './protocol/json-object.ts'

/**
 * The fields in which a request names further models, which its provider turns to by itself: OpenRouter's `models`
 * (https://openrouter.ai/docs/features/model-routing), and `fallbacks` of a LiteLLM proxy. OpenAI's dialect passes them on.
 */
const fields = ['models', 'fallbacks'] as const

/** The places that a request may reach at a plugin: its own, and those of the further models that it names. */
export function placesAsked(
  { plugin, model }: KeyPlace,
  request: Readonly<Record<string, unknown>>,
): readonly KeyPlace[] {
  const places: KeyPlace[] = [{ plugin, model }]
  if (plugin === null) return places
  for (const field of fields)
    for (const named of [request[field] ?? []].flat()) places.push({ plugin, model: nameOf(named) })
  return places
}

function nameOf(named: unknown): string {
  const name = isObject(named) ? named['model'] : named
  return typeof name === 'string' ? name : JSON.stringify(named)
}
