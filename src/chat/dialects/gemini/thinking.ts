import { compact, type JsonObject } from '../../protocol/json-object.ts'

/**
 * `reasoning_effort` for a Gemini model, by the table on Google's page for its OpenAI-compatible service
 * (https://ai.google.dev/gemini-api/docs/openai#thinking): Gemini 3 takes a level, Gemini 2.5 a budget of tokens.
 * Undefined for models that do not think, and where no effort was asked for.
 */
export function thinkingConfig(model: string, effort: string | undefined): JsonObject | undefined {
  if (!effort) return undefined
  const isPro = /-pro\b/.test(model)
  if (needsSignatures(model)) return { thinkingLevel: levelOf(effort, isPro) }
  if (!/gemini-2\.5/.test(model)) return undefined
  // Gemini 2.5 Pro cannot stop thinking: 128 is the least it takes.
  const none = isPro ? 128 : 0
  return compact({ thinkingBudget: effort === 'none' ? none : (budgets.get(effort) ?? 8192) })
}

/** Gemini 3 and later want the signatures of their thoughts back with every call. */
export function needsSignatures(model: string): boolean {
  return /gemini-(?:[3-9]|\d\d)/.test(model)
}

const budgets: ReadonlyMap<string, number> = new Map([
  ['minimal', 1024],
  ['low', 1024],
  ['medium', 8192],
  ['high', 24_576],
])

/** The Pro models know `low` and `high` only. */
function levelOf(effort: string, isPro: boolean): string {
  if (effort === 'none' || effort === 'minimal') return isPro ? 'low' : 'minimal'
  if (effort === 'low') return 'low'
  return effort === 'medium' && !isPro ? 'medium' : 'high'
}
