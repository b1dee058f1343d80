import { anthropic } from './anthropic.ts'
import type { Dialect } from './dialect.ts'
import { gemini } from './gemini.ts'
import { ollama } from './ollama.ts'
import { openai } from './openai.ts'

/** Every dialect, most specific first; OpenAI's is what everyone else speaks. */
export const dialects: readonly Dialect[] = [anthropic, gemini, ollama, openai]

/** The dialect of a plugin: the one its `api` names, else the one its endpoint is spelled like, else OpenAI's. */
export function dialectFor(api: string | undefined, endpoint: string): Dialect {
  const named = dialects.find((dialect) => dialect.id === api)
  return named ?? dialects.find((dialect) => dialect.matches(endpoint)) ?? openai
}
