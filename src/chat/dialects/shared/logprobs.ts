import { type JsonObject, objectOf, objectsOf } from '../../protocol/json-object.ts'

/** The probabilities of the tokens of a text, where a choice of ours, or a piece of one, has them. */
export function logprobsOf(choice: JsonObject): readonly unknown[] {
  const { content } = objectOf(choice['logprobs'])
  return Array.isArray(content) ? content : []
}

/** Probabilities as a field of a choice of ours, which is not there without them. */
export function choiceLogprobs(content: readonly JsonObject[]): { readonly logprobs?: JsonObject } {
  return content.length > 0 ? { logprobs: { content, refusal: null } } : {}
}

/** Ollama's list of probabilities as ours: a token's bytes and its alternatives may be left out there. */
export function readTokens(raw: unknown): readonly JsonObject[] {
  return objectsOf(raw).map((each) => ({
    ...tokenOf(each),
    top_logprobs: objectsOf(each['top_logprobs']).map(tokenOf),
  }))
}

/** Gemini's result (https://ai.google.dev/api/generate-content#LogprobsResult) as ours. */
export function readLogprobsResult(raw: unknown): readonly JsonObject[] {
  const { chosenCandidates: chosen, topCandidates: top } = objectOf(raw)
  const others = Array.isArray(top) ? top : []
  return objectsOf(chosen).map((each, at) => ({
    ...tokenOf(each),
    top_logprobs: objectsOf(objectOf(others[at])['candidates']).map(tokenOf),
  }))
}

function tokenOf({ token, logprob, logProbability, bytes }: JsonObject): JsonObject {
  const text = typeof token === 'string' ? token : ''
  return {
    token: text,
    logprob: logprob ?? logProbability ?? 0,
    bytes: Array.isArray(bytes) ? bytes : [...Buffer.from(text)],
  }
}
