import type { Dialect } from '../protocol/dialect.ts'
import { anthropic } from './anthropic/dialect.ts'
import { gemini } from './gemini/dialect.ts'
import { ollama } from './ollama/dialect.ts'
import { openai } from './openai/dialect.ts'

/** Every dialect, most specific first; OpenAI's is the fallback. */
export const dialects: readonly Dialect[] = [anthropic, gemini, ollama, openai]

/** The dialect of a plugin: named by its `api`, else recognised by its endpoint, else OpenAI's. */
export function dialectFor(api: string | undefined, endpoint: string): Dialect {
  const named = dialects.find((dialect) => dialect.id === api)
  return named ?? dialects.find((dialect) => dialect.matches(endpoint)) ?? openai
}
