import { InvalidArgumentError } from 'commander'

/** Parameters of a request by their names. */
export type Parameters = Readonly<Record<string, unknown>>

/** Fields of a request that other options or arguments fill. */
const others: Readonly<Record<string, string>> = {
  model: '-m',
  persona: '-p',
  session: '-s',
  messages: 'the text',
  memory: '--no-memory',
  fallback: '--no-fallback',
  stream: '--no-stream',
  tools: '--mcp',
}

/**
 * Adds `KEY=VALUE` to the parameters before it; a value that is JSON is taken as such (0.9, true, ["a","b"]), any other as
 * text. Throws commander's InvalidArgumentError for another form and for the fields of other options.
 */
export function parseParameter(text: string, before: Parameters = {}): Parameters {
  const [, key, value = ''] = /^([a-z][a-z0-9_]{0,63})=([\s\S]*)$/.exec(text) ?? []
  if (key === undefined) throw new InvalidArgumentError('Write KEY=VALUE, such as top_p=0.9')
  const option = Object.hasOwn(others, key) ? others[key] : undefined
  if (option !== undefined) throw new InvalidArgumentError(`Use ${option} in its place`)
  return { ...before, [key]: parsedValue(value) }
}

function parsedValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
