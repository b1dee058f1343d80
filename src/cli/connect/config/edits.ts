import { isDeepStrictEqual } from 'node:util'

/** A place in a document: names of fields within each other. */
export type Path = readonly string[]

/** A format of configuration files. */
export interface ConfigFormat {
  /** The value of a text without byte order mark. Throws an error with the invalid place in its message. */
  parse(text: string): unknown
  /** The text with a value at a place, or without it (undefined). */
  change(text: string, path: Path, value: unknown): string
}

/** A value that a client needs at a place of its file. */
export interface Edit {
  readonly path: Path
  readonly value: unknown
}

/** A change as it was made: enough to take it back from a file that has changed elsewhere. */
export interface MadeEdit extends Edit {
  /** The value that was there; absent where there was none. */
  readonly before?: unknown
  /** How many steps of the path were there. */
  readonly known: number
}

/** A document cannot take a change, or give it back; the message says why. */
export class EditProblem extends Error {
  override readonly name = 'EditProblem'
}

/** The value of a text. Throws `EditProblem` for one that does not parse. */
function parseConfig({ parse }: ConfigFormat, text: string): unknown {
  try {
    return parse(text)
  } catch (cause) {
    const [first = ''] = (cause as Error).message.split('\n', 1)
    const reason = cause instanceof RangeError ? 'it is nested too deeply' : first.replace(/:$/, '')
    throw new EditProblem(`it does not parse: ${reason}`, { cause })
  }
}

/**
 * Makes changes to a text and nothing else: after each one the text is parsed again, and all other values must be as before.
 * Throws `EditProblem`.
 */
export function applyEdits(
  format: ConfigFormat,
  text: string,
  edits: readonly Edit[],
): { readonly text: string; readonly made: readonly MadeEdit[] } {
  const made: MadeEdit[] = []
  let now = text
  for (const { path, value } of edits) {
    const document = parseConfig(format, now)
    const before = valueAt(document, path)
    requireRoom(document, path)
    now = changed(format, now, document, path, value)
    made.push({ path, value, known: knownSteps(document, path), ...(before !== undefined && { before }) })
  }
  return { text: now, made }
}

/**
 * Takes changes back from a text that has changed elsewhere. A value that was itself changed since stays, and is named in
 * `kept`. Throws `EditProblem`.
 */
export function takeBack(
  format: ConfigFormat,
  text: string,
  made: readonly MadeEdit[],
): { readonly text: string; readonly kept: readonly string[] } {
  const kept: string[] = []
  let now = text
  for (const edit of [...made].reverse()) {
    const document = parseConfig(format, now)
    const { path } = edit
    const current = valueAt(document, path)
    // Taken out by hand: nothing is left to do.
    if (current === undefined && edit.before === undefined) continue
    if (!isDeepStrictEqual(plain(current), plain(edit.value))) {
      kept.push(pathText(path))
      continue
    }
    now = changed(format, now, document, path, edit.before)
    if (edit.before === undefined) now = withoutEmptyParents(format, now, path, edit.known)
  }
  return { text: now, kept: kept.reverse() }
}

/** Throws where a value on the way to the place is no object. */
function requireRoom(document: unknown, path: Path): void {
  for (let length = 0; length < path.length; length++) {
    const value = length === 0 ? document : valueAt(document, path.slice(0, length))
    if (value === undefined || value === null) continue
    if (typeof value !== 'object' || Array.isArray(value))
      throw new EditProblem(
        length === 0
          ? 'its content has another shape'
          : `${pathText(path.slice(0, length))} holds another kind of value`,
      )
  }
}

function knownSteps(document: unknown, path: Path): number {
  let known = 0
  while (known < path.length && valueAt(document, path.slice(0, known + 1)) !== undefined) known++
  return known
}

/** The text with one value changed. Throws `EditProblem` where something else would be another value then. */
function changed(format: ConfigFormat, text: string, document: unknown, path: Path, value: unknown): string {
  const expected = plain(withValue(document, path, value))
  if (isDeepStrictEqual(plain(document), expected)) return text
  try {
    const result = format.change(text, path, value)
    if (isSame(plain(format.parse(result)), expected)) return result
  } catch {
    // The text has a shape that the library cannot change.
  }
  throw new EditProblem(`${pathText(path)} cannot be written without changing other values`)
}

/** Removes the parents that were made for a value and are empty now. */
function withoutEmptyParents(format: ConfigFormat, text: string, path: Path, known: number): string {
  let now = text
  for (let length = path.length - 1; length > known; length--) {
    const parent = path.slice(0, length)
    const document = parseConfig(format, now)
    const value = valueAt(document, parent)
    if (typeof value !== 'object' || value === null || Object.keys(value).length > 0) break
    now = changed(format, now, document, parent, undefined)
  }
  return now
}

/** Whether two documents have the same values; one without any is the same as an empty object. */
function isSame(one: unknown, other: unknown): boolean {
  const isEmpty = (value: unknown) =>
    value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)
  return isDeepStrictEqual(one, other) || (isEmpty(one) && isEmpty(other))
}

/** A value without prototypes. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  // Dates of TOML.
  if (value instanceof Date) return value.toISOString()
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]))
}

function pathText(path: Path): string {
  return path.length === 0 ? 'its content' : path.join('.')
}

/** The line break of a text: that of its first line. */
export function lineBreakOf(text: string): '\r\n' | '\n' {
  return /\r?\n/.exec(text)?.[0] === '\r\n' ? '\r\n' : '\n'
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
