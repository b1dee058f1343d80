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

/** The failures of a model's answer, beside those of every route. */
export const answering = [404, 408, 413, 415, 422, 429, 502, 504]
