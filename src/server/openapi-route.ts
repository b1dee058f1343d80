import type { z } from 'zod'

/** A route as the document shows it; `statuses` are those of its failures. */
export interface DocumentedRoute {
  readonly route: string
  readonly summary: string
  readonly dialect?: 'openai' | 'anthropic' | 'ollama' | 'mcp'
  readonly body?: z.ZodType
  readonly answer?: z.ZodType
  readonly produces?: readonly string[]
  readonly statuses: readonly number[]
}

export type RouteParts = Partial<Pick<DocumentedRoute, 'body' | 'answer' | 'produces' | 'statuses'>>

/** The failures of a model's answer, beside those of every route. */
const answering = [404, 408, 413, 415, 422, 429, 502, 504]

/** Documents a route of a dialect, by default with the failures of a model's answer for a POST and of a look-up for others. */
export function documented(
  dialect: NonNullable<DocumentedRoute['dialect']>,
  route: string,
  summary: string,
  more: RouteParts = {},
): DocumentedRoute {
  const statuses = route.startsWith('POST ') ? [401, ...answering] : [401, 404, 429]
  return { route, summary, dialect, statuses, ...more }
}
