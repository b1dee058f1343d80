import { isDeepStrictEqual } from 'node:util'
import { dotenvFormat } from './dotenv.ts'
import { type ConfigFormat, type Path, valueAt, withValue } from './format.ts'
import { jsonFormat } from './json.ts'
import { tomlFormat } from './toml.ts'
import { yamlFormat } from './yaml.ts'

export type FormatName = 'json' | 'toml' | 'yaml' | 'dotenv'

const formats: Readonly<Record<FormatName, ConfigFormat>> = {
  json: jsonFormat,
  toml: tomlFormat,
  yaml: yamlFormat,
  dotenv: dotenvFormat,
}

/** A value that a client needs at a place of its file. */
export interface FieldEdit {
  readonly path: readonly string[]
  readonly value: unknown
  /** A value that is there already stays. */
  readonly keep?: true
}

/** Items that a client needs in a list of its file; an item with the same name is replaced. */
export interface ListEdit {
  readonly path: readonly string[]
  readonly items: readonly Readonly<Record<string, unknown>>[]
  /** The field that names an item. */
  readonly by: string
}

export type Edit = FieldEdit | ListEdit

/** A change as it was made: enough to take it back from a file that has changed elsewhere. */
export interface MadeEdit {
  readonly path: Path
  readonly value: unknown
  /** The value that was there; absent where there was none. */
  readonly before?: unknown
  /** The field that names the item, for one of a list. */
  readonly by?: string
  /** How many steps of the path were there. */
  readonly known: number
}

/** A document cannot take a change, or give it back; the message says why. */
export class EditProblem extends Error {
  override readonly name = 'EditProblem'
}

/** The value of a text. Throws `EditProblem` for one that does not parse. */
function parseConfig(format: FormatName, text: string): unknown {
  try {
    return formats[format].parse(text)
  } catch (cause) {
    const [first = ''] = (cause as Error).message.split('\n', 1)
    const reason = cause instanceof RangeError ? 'it is nested too deeply' : first.replace(/:$/, '')
    throw new EditProblem(`it is no valid ${nameOf(format)}: ${reason}`, { cause })
  }
}

/**
 * Makes changes to a text and nothing else: after each one the text is parsed again, and all other values must be as before.
 * Throws `EditProblem`.
 */
export function applyEdits(
  format: FormatName,
  text: string,
  edits: readonly Edit[],
): { readonly text: string; readonly made: readonly MadeEdit[] } {
  const made: MadeEdit[] = []
  let now = text
  for (const edit of edits.flatMap(singleEdits)) {
    const document = parseConfig(format, now)
    const path = edit.by === undefined ? edit.path : itemPath(document, edit.path, edit.by, edit.value)
    const before = valueAt(document, path)
    if (edit.keep && before !== undefined) continue
    requireRoom(document, path)
    now = changed(format, now, document, path, edit.value)
    made.push({
      path,
      value: edit.value,
      known: knownSteps(document, path),
      ...(before !== undefined && { before }),
      ...(edit.by !== undefined && { by: edit.by }),
    })
  }
  return { text: now, made }
}

/**
 * Takes changes back from a text that has changed elsewhere. A value that was itself changed since stays, and is named in
 * `kept`. Throws `EditProblem`.
 */
export function takeBack(
  format: FormatName,
  text: string,
  made: readonly MadeEdit[],
): { readonly text: string; readonly kept: readonly string[] } {
  const kept: string[] = []
  let now = text
  for (const edit of [...made].reverse()) {
    const document = parseConfig(format, now)
    const path = edit.by === undefined ? edit.path : itemPath(document, edit.path.slice(0, -1), edit.by, edit.value)
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

interface SingleEdit {
  readonly path: Path
  readonly value: unknown
  readonly keep?: true
  readonly by?: string
}

function singleEdits(edit: Edit): readonly SingleEdit[] {
  return 'items' in edit ? edit.items.map((value) => ({ path: edit.path, value, by: edit.by })) : [edit]
}

/** The place of the item with the name of the given one, else the place behind the last. */
function itemPath(document: unknown, list: Path, by: string, item: unknown): Path {
  const items = valueAt(document, list)
  if (items !== undefined && items !== null && !Array.isArray(items))
    throw new EditProblem(`${pathText(list)} is no list`)
  const all: readonly unknown[] = items ?? []
  const at = all.findIndex((each) => valueAt(each, [by]) === valueAt(item, [by]))
  return [...list, at < 0 ? all.length : at]
}

/** Throws where a value on the way to the place is neither an object nor a list. */
function requireRoom(document: unknown, path: Path): void {
  for (let length = 0; length < path.length; length++) {
    const value = length === 0 ? document : valueAt(document, path.slice(0, length))
    if (value === undefined || value === null) continue
    const isFit = typeof value === 'object' && Array.isArray(value) === (typeof path[length] === 'number')
    if (!isFit)
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

/** The text with one value changed, by the first way after which all else is the same. */
function changed(format: FormatName, text: string, document: unknown, path: Path, value: unknown): string {
  const expected = plain(withValue(document, path, value))
  if (isDeepStrictEqual(plain(document), expected)) return text
  for (const way of formats[format].ways) {
    const result = attempt(() => way(text, path, value))
    const read = result === undefined ? undefined : attempt(() => plain(formats[format].parse(result)))
    if (result !== undefined && isSame(read, expected)) return result
  }
  throw new EditProblem(`${pathText(path)} cannot be written without changing other values`)
}

/** Removes the parents that were made for a value and are empty now. */
function withoutEmptyParents(format: FormatName, text: string, path: Path, known: number): string {
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

/** Whether two documents have the same values; one without any is the same as an empty object or list. */
function isSame(one: unknown, other: unknown): boolean {
  const isEmpty = (value: unknown) =>
    value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)
  return isDeepStrictEqual(one, other) || (isEmpty(one) && isEmpty(other))
}

/** A value without prototypes. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  // Dates of TOML and YAML.
  if (value instanceof Date) return value.toISOString()
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]))
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

function pathText(path: Path): string {
  return path.length === 0 ? 'its content' : path.join('.')
}

function nameOf(format: FormatName): string {
  return format === 'dotenv' ? '.env file' : format.toUpperCase()
}
