/** A place in a document: names of fields within each other. */
export type Path = readonly string[]

/** A way to write a value to a place of a text, or to remove it (undefined); undefined where the way does not fit the text. */
export type Way = (text: string, path: Path, value: unknown) => string | undefined

/** A format of configuration files. */
export interface ConfigFormat {
  /** The value of a text without byte order mark. Throws an error with the invalid place in its message. */
  parse(text: string): unknown
  /** Ways to change a text, the one that keeps most of it first. */
  readonly ways: readonly Way[]
}

/** The line break of a text: that of its first line. */
export function lineBreakOf(text: string): '\r\n' | '\n' {
  return /\r?\n/.exec(text)?.[0] === '\r\n' ? '\r\n' : '\n'
}

/** The text with a line break at its end, unless it is empty. */
export function withLastBreak(text: string): string {
  return text === '' || text.endsWith('\n') ? text : text + lineBreakOf(text)
}

/** The value at a place; undefined where there is none. */
export function valueAt(document: unknown, path: Path): unknown {
  let value = document
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Record<string, unknown>)[step]
  }
  return value
}

/** A copy of a document with a value at a place, or without it (undefined); absent objects on the way are made. */
export function withValue(document: unknown, path: Path, value: unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined) return value
  const { [step]: before, ...others } = (document ?? {}) as Record<string, unknown>
  const after = withValue(before, rest, value)
  return after === undefined ? others : { ...others, [step]: after }
}
