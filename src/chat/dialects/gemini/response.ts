import {
  compact,
  countOf,
  isObject,
  type JsonObject,
  objectOf,
  objectsOf,
  stringOf,
  wholeOf,
} from '../../protocol/json-object.ts'
import type { ChatReply, Choice, FinishReason, Usage } from '../../protocol/messages.ts'
import { withExtra } from '../shared/alternation.ts'
import { choiceLogprobs, readLogprobsResult } from '../shared/logprobs.ts'
import { generatedId } from '../shared/tool-ids.ts'
import { malformedResponse, throwIfError } from '../shared/wire-error.ts'
import { field, isPlainAnswer, readAnswer } from './content.ts'

/** Reads an answer of Gemini's; `now` in milliseconds dates it, because Gemini does not. */
export function readResponse(body: unknown, now = Date.now()): ChatReply {
  throwIfError(body)
  const fields = objectOf(body)
  const id = stringOf(fields['responseId']) ?? ''
  const usage = fields['usageMetadata']
  let calls = 0
  const choices = objectsOf(fields['candidates']).map((candidate, position) =>
    readCandidate(candidate, position, () => generatedId(id, calls++)),
  )
  const isBlocked = blockReason(fields) !== undefined
  if (choices.length === 0 && !isBlocked) throw malformedResponse('it holds no candidates')
  return {
    id,
    object: 'chat.completion',
    created: Math.floor(now / 1000),
    model: stringOf(fields['modelVersion']) ?? '',
    choices: choices.length > 0 ? choices : [blockedChoice],
    ...(isObject(usage) && countsOf(usage)),
  }
}

/** Gemini's token counts as ours, and its own beside them. */
export function countsOf(usage: JsonObject): Pick<ChatReply, 'extra_content'> & { readonly usage: Usage } {
  return { usage: readUsage(usage), ...withExtra('gemini', { usageMetadata: usage }) }
}

/** A blocked prompt has no candidate, only the fact that the provider's filter blocked it. */
const blockedChoice: Choice = {
  index: 0,
  message: { role: 'assistant', content: null },
  finish_reason: 'content_filter',
}

/** Why Gemini did not answer the prompt at all, or undefined where it did. */
export function blockReason(fields: JsonObject): string | undefined {
  return stringOf(objectOf(fields['promptFeedback'])['blockReason'])
}

const filtered = new Set<unknown>([
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
  'MODEL_ARMOR',
  'LANGUAGE',
])

/** Whether a piece holds a finish reason; null, "" and FINISH_REASON_UNSPECIFIED are none. */
export function hasFinished(reason: unknown): boolean {
  return typeof reason === 'string' && reason !== '' && reason !== 'FINISH_REASON_UNSPECIFIED'
}

/** Gemini's finish reasons (https://ai.google.dev/api/generate-content#FinishReason) as ours; STOP ends calls too. */
export function readFinish(reason: unknown, calls: boolean): FinishReason {
  if (reason === 'STOP' || !hasFinished(reason)) return calls ? 'tool_calls' : 'stop'
  if (reason === 'MAX_TOKENS') return 'length'
  return filtered.has(reason) ? 'content_filter' : 'error'
}

/** Gemini counts thoughts in addition to the answer; OpenAI counts them in. */
function readUsage(usage: JsonObject): Usage {
  const thoughts = countOf(usage['thoughtsTokenCount'])
  const prompt = countOf(usage['promptTokenCount']) + countOf(usage['toolUsePromptTokenCount'])
  const completion = countOf(usage['candidatesTokenCount']) + thoughts
  const cached = countOf(usage['cachedContentTokenCount'])
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: countOf(usage['totalTokenCount']) || prompt + completion,
    ...(cached > 0 && { prompt_tokens_details: { cached_tokens: cached } }),
    ...(thoughts > 0 && { completion_tokens_details: { reasoning_tokens: thoughts } }),
  }
}

/** How Gemini names the end of a candidate, and its words on it: an error of ours repeats them. */
export function endingOf({ finishReason, finishMessage }: JsonObject): JsonObject | undefined {
  return hasFinished(finishReason) ? compact({ finishReason, finishMessage }) : undefined
}

/**
 * The parts themselves. Throws a DialectError for a call without a name, and for one whose arguments come in pieces: Gemini sends
 * these only where `streamFunctionCallArguments` asks for them
 * (https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling).
 */
export function requireWholeCalls(parts: readonly JsonObject[]): readonly JsonObject[] {
  for (const part of parts) {
    const call = field(part, 'functionCall')
    if (!isObject(call)) continue
    if (field(call, 'partialArgs') !== undefined || field(call, 'willContinue') === true)
      throw malformedResponse('it holds a call whose arguments come in pieces')
    if (!stringOf(call['name'])) throw malformedResponse('it holds a call without a name')
  }
  return parts
}

function readCandidate(candidate: JsonObject, position: number, ids: () => string): Choice {
  const parts = requireWholeCalls(objectsOf(objectOf(candidate['content'])['parts']))
  const answer = readAnswer(parts, ids)
  // Parts without a place in our shape, such as a picture that the model drew, go back to it unchanged with the next question.
  const kept = isPlainAnswer(parts) ? undefined : { parts }
  const message = kept ? { ...answer, extra_content: { ...answer.extra_content, gemini: kept } } : answer
  return {
    index: wholeOf(candidate['index']) ?? position,
    message,
    finish_reason: readFinish(field(candidate, 'finishReason'), message.tool_calls !== undefined),
    ...choiceLogprobs(readLogprobsResult(field(candidate, 'logprobsResult'))),
    ...withExtra('gemini', endingOf(candidate)),
  }
}
