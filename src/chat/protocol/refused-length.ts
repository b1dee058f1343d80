/** The tokens that a provider's refusal of a too long request names; each may be missing. */
export interface RefusedLength {
  /** The most tokens that the model takes, or that the account may send at once. */
  readonly limit?: number
  /** The tokens of the refused request, as the provider counts. */
  readonly counted?: number
}

const number = String.raw`([\d,]{1,15})`

/**
 * The sentences in which providers name both, each as they were seen: OpenAI and vLLM, OpenRouter, Anthropic (two), Gemini,
 * Mistral, llama.cpp and Ollama, Groq (tokens a minute). The first group is what the name says.
 */
const limits = [
  `maximum context length (?:is|of) ${number}`,
  `tokens > ${number} maximum`,
  String.raw`context limit: [\d,+ ]{1,40}> ${number}`,
  String.raw`maximum number of tokens allowed \(?${number}`,
  `with ${number} maximum context length`,
  String.raw`context (?:size|length|window|limit) (?:of |is )?\(?${number}`,
  `Limit ${number}, Requested`,
].map((pattern) => new RegExp(pattern, 'i'))

const counts = [
  `resulted in ${number} tokens`,
  `requested (?:about )?${number} tokens`,
  `too long: ${number} tokens`,
  String.raw`context limit: ${number} \+`,
  String.raw`input token count \(?${number}`,
  `prompt contains ${number} tokens`,
  String.raw`(?:request|prompt|input) \(${number} tokens\)`,
  `Requested ${number}`,
].map((pattern) => new RegExp(pattern, 'i'))

/** Reads the lengths in the words of a refusal. */
export function refusedLength(message: string): RefusedLength {
  const words = message.slice(0, 1_000)
  const [limit, counted] = [limits, counts].map((patterns) => {
    const found = patterns.map((pattern) => pattern.exec(words)?.[1]).find((text) => text !== undefined)
    const value = Number(found?.replaceAll(',', ''))
    return Number.isSafeInteger(value) && value > 0 ? value : undefined
  })
  return { ...(limit !== undefined && { limit }), ...(counted !== undefined && { counted }) }
}
