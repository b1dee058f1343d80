import { InvalidArgumentError } from 'commander'

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

export const parameterName = /^[a-z][a-z0-9_]{0,63}$/

/** The option or argument that fills a field of a request in place of -o; undefined for a parameter of the model. */
export function optionFor(key: string): string | undefined {
  return Object.hasOwn(others, key) ? others[key] : undefined
}

/**
 * Adds `KEY=VALUE` to the parameters before it; a value that is JSON is taken as such (0.9, true, ["a","b"]), any other as
 * text. Throws commander's InvalidArgumentError for another form and for the fields of other options.
 */
export function parseParameter(text: string, before: Parameters = {}): Parameters {
  const [, key = '', value = ''] = /^([^=]*)=([\s\S]*)$/.exec(text) ?? []
  if (!parameterName.test(key)) throw new InvalidArgumentError('Write KEY=VALUE, such as top_p=0.9')
  const option = optionFor(key)
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

export type Variables = Readonly<Record<string, string>>

/** Adds `NAME=VALUE` to the variables before it. Throws commander's InvalidArgumentError for another form. */
export function parseVariable(text: string, before: Variables = {}): Variables {
  const [, name, value = ''] = /^([A-Za-z_][A-Za-z0-9_]{0,63})=([\s\S]*)$/.exec(text) ?? []
  if (name === undefined) throw new InvalidArgumentError('Write NAME=VALUE, such as lang=de')
  return { ...before, [name]: value }
}
