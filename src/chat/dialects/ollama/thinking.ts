import type { ChatRequest } from '../../protocol/messages.ts'

/**
 * Ollama's `think`. gpt-oss thinks in levels and cannot stop; other models that can think do so by default
 * (https://docs.ollama.com/capabilities/thinking), and asking one that cannot is an error: only false is sent.
 */
export function thinkingValue(request: ChatRequest): string | boolean | undefined {
  const effort = request.reasoning_effort
  if (!effort) return undefined
  if (!/gpt-oss/.test(request.model)) return effort === 'none' ? false : undefined
  return effort === 'medium' || effort === 'high' ? effort : 'low'
}
