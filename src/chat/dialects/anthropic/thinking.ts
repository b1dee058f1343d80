import { type JsonObject, objectOf } from '../../protocol/json-object.ts'
import type { ChatRequest } from '../../protocol/messages.ts'
import { extraOf } from '../shared/alternation.ts'

/**
 * `reasoning_effort` for a Claude model, as fields that replace those of `body`. Models that take an effort, think
 * adaptively or want a budget are those of the capabilities in Anthropic's list of models (August 2026).
 * Nothing is added where the request has Anthropic's own settings, or where the model or the conversation forbids thinking.
 */
export function thinkingFields(request: ChatRequest, body: JsonObject): JsonObject {
  const effort = request.reasoning_effort
  const extra = extraOf(request, 'anthropic')
  if (!effort || effort === 'none' || extra['thinking'] || objectOf(extra['output_config'])['effort']) return {}
  const { model } = request
  const config = takesEffort(model)
    ? { output_config: { ...objectOf(body['output_config']), effort: effortOf(effort) } }
    : {}
  if (!mayThink(request)) return config
  if (thinksAdaptively(model)) return { ...config, ...noSampling, thinking: { type: 'adaptive' } }
  const budget = Math.min(budgets.get(effort) ?? 8192, Number(body['max_tokens']) - 1)
  if (!takesBudget(model) || budget < leastBudget) return config
  return { ...config, ...noSampling, thinking: { type: 'enabled', budget_tokens: budget } }
}

/** While it thinks, a Claude model refuses these (https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking). */
const noSampling = { temperature: undefined, top_k: undefined, top_p: undefined }

/** The least budget that Anthropic accepts. */
const leastBudget = 1024

/** Google's page on its OpenAI-compatible service states these for the same words. */
const budgets: ReadonlyMap<string, number> = new Map([
  ['minimal', 1024],
  ['low', 1024],
  ['medium', 8192],
  ['high', 24_576],
  ['xhigh', 24_576],
])

function effortOf(effort: string): string {
  return effort === 'minimal' ? 'low' : effort
}

function takesEffort(model: string): boolean {
  return /claude-(?:opus-4-[5-9]|sonnet-4-[6-9]|[a-z]+-[5-9])/.test(model)
}

function thinksAdaptively(model: string): boolean {
  return /claude-(?:(?:opus|sonnet)-4-[6-9]|[a-z]+-[5-9])/.test(model)
}

function takesBudget(model: string): boolean {
  return /claude-(?:3-7|[a-z]+-4)/.test(model)
}

/** Anthropic refuses to think under a forced tool, and after a call without its signed thinking. */
function mayThink(request: ChatRequest): boolean {
  const choice = request.tool_choice
  if (choice !== undefined && choice !== 'auto' && choice !== 'none') return false
  const last = request.messages.findLast((message) => message.role === 'assistant')
  const answersCall = request.messages.at(-1)?.role === 'tool'
  return (
    !answersCall || last?.reasoning_details !== undefined || Array.isArray(extraOf(last ?? {}, 'anthropic')['content'])
  )
}
