import { DialectError } from './dialect.ts'

/** A JSON object with unchecked fields. */
export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value as an object; an empty one for anything else. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** The objects of a list; none where there is no list. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** A count of tokens: a finite number of at least 0, which some services write as text; else 0. */
export function countOf(value: unknown): number {
  const count = wholeOf(value) ?? value
  return typeof count === 'number' && Number.isFinite(count) && count > 0 ? count : 0
}

/** A number of at least 0 without a fraction, also where it is written as text; undefined for anything else. */
export function wholeOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined
}

/** A time in seconds since 1970, where it is one that a date can say; else 0. */
export function secondsOf(value: unknown): number {
  const seconds = countOf(value)
  return seconds <= 8_640_000_000_000 ? Math.floor(seconds) : 0
}

/** Such a time as RFC 3339 has it. */
export function isoTime(seconds: unknown): string {
  return new Date(secondsOf(seconds) * 1000).toISOString()
}

/** A text that parses to an object, as that object; else undefined. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The JSON of one event of a stream. Throws a DialectError `broken` when it does not parse to an object. */
export function parseEvent(text: string): JsonObject {
  const value = parseObject(text)
  if (value) return value
  throw new DialectError('broken', { message: 'The provider sent an event that cannot be read', code: 'bad_event' })
}

/**
 * The arguments of a tool call as an object: "" means none. A text that is not a JSON object is wrapped as `{"INVALID_JSON": text}`,
 * which Anthropic's pages on fine-grained tool streaming recommend, so that the model sees its own mistake.
 */
export function parseArguments(text: string): JsonObject {
  if (text.trim() === '') return {}
  return parseObject(text) ?? { INVALID_JSON: text }
}

/** The same backwards. Throws a DialectError for a value nested too deep to be written. */
export function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value
  if (!isObject(value)) return value === undefined || value === null ? '{}' : JSON.stringify(value)
  const keys = Object.keys(value)
  if (keys.length === 1 && typeof value['INVALID_JSON'] === 'string') return value['INVALID_JSON']
  try {
    return JSON.stringify(value)
  } catch (cause) {
    throw new DialectError('broken', { message: 'The provider sent arguments nested too deep' }, { cause })
  }
}

/** The fields of an object but for the named ones; undefined where none is left. */
export function restOf(value: JsonObject, known: ReadonlySet<string>): JsonObject | undefined {
  const entries = Object.entries(value).filter(([name]) => !known.has(name))
  return entries.length > 0 ? Object.fromEntries(entries) : undefined
}

/** An object without the fields that are undefined. */
export function compact<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> }
}

/** The items of a list that are there. */
export function present<T>(items: readonly (T | undefined)[]): T[] {
  return items.filter((item) => item !== undefined)
}
