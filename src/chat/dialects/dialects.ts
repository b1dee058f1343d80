import type { Dialect } from '../protocol/dialect.ts'
import { anthropic } from './anthropic/dialect.ts'
import { gemini } from './gemini/dialect.ts'
import { ollama } from './ollama/dialect.ts'
import { openai } from './openai/dialect.ts'
import { responses } from './responses/dialect.ts'

/** Every dialect; OpenAI's chat completions are the fallback. */
export const dialects: readonly Dialect[] = [anthropic, gemini, ollama, openai, responses]

/** The dialect of a plugin: named by its `api`, else recognised by its endpoint, else OpenAI's. */
export function dialectFor(api: string | undefined, endpoint: string): Dialect {
  const named = dialects.find((dialect) => dialect.id === api)
  return named ?? dialects.find((dialect) => dialect.matches(endpoint)) ?? openai
}
