/** The JSON of an answer. */
export interface JsonAnswer {
  readonly json: string
  /** Whether it stood in a code fence, as weaker models write it. */
  readonly wasFenced: boolean
}

/** The text of an answer without white space around it, and without a code fence that holds all of it. */
export function jsonIn(text: string): JsonAnswer {
  const trimmed = text.trim()
  const opening = /^(`{3,}|~{3,})[\t ]*(?:[\w+-]+[\t ]*)?\r?\n/.exec(trimmed)
  if (!opening) return { json: trimmed, wasFenced: false }
  const fence = opening[1]!
  const within = trimmed.slice(opening[0].length)
  if (!within.endsWith(fence) || within.length === fence.length) return { json: trimmed, wasFenced: false }
  return { json: within.slice(0, -fence.length).trim(), wasFenced: true }
}
