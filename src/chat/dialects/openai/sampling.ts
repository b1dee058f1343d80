import type { ChatRequest } from '../../protocol/messages.ts'
import { hostOf, isOpenai } from './hosts.ts'

/** The fields that OpenAI's reasoning models refuse, as far as they ask for something. */
export function lostSampling(request: ChatRequest, endpoint: string): readonly string[] {
  if (!isReasoning(request.model) || !refusesSampling(request) || !isOpenai(hostOf(endpoint))) return []
  return Object.keys(neutral).filter((name) => {
    const value = request[name]
    return value !== undefined && value !== null && value !== neutral[name]
  })
}

/** The values that change nothing, which these models accept. */
const neutral: Readonly<Record<string, unknown>> = {
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  logprobs: false,
  top_logprobs: undefined,
  logit_bias: undefined,
}

/** From gpt-5.1 on, sampling is allowed again where reasoning is turned off (OpenAI's page "Using GPT-5.2"). */
function refusesSampling(request: ChatRequest): boolean {
  return isReasoning(request.model) && !(request.reasoning_effort === 'none' && /^gpt-/.test(request.model))
}

/** The o series and gpt-5 and later, but for the chat-tuned ones. */
export function isReasoning(model: string): boolean {
  return /^(?:ft:)?(?:o\d|gpt-(?:[5-9]|\d\d))/.test(model) && !/^gpt-5-chat/.test(model)
}
