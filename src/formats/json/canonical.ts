import { isAscii } from 'node:buffer'
import { AppError } from '../../errors.ts'

/** Bounds on untrusted JSON. */
export interface JsonLimits {
  /** The most arrays and objects inside each other. */
  readonly depth: number
  /** Put U+FFFD for half of a surrogate pair rather than refuse it: programs that cut texts leave some. */
  readonly mend?: boolean
}

/** Twice the bounds of the API, since a package wraps its data in parts, records and effects. */
export const defaultJsonLimits: JsonLimits = { depth: 128 }

/**
 * The one text of a JSON value by RFC 8785 (JSON Canonicalization Scheme): no white space, keys in the order of their
 * UTF-16 code units, numbers as ECMAScript writes them, strings with the fewest escapes and no Unicode normalisation.
 * Throws an `invalid` AppError for values without such a text: NaN, infinities, lone surrogates, and values that are not JSON.
 */
export function canonicalize(value: unknown): string {
  if (typeof value === 'string') return canonicalString(value)
  if (typeof value === 'number') return canonicalNumber(value)
  if (value === null || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return canonicalArray(value)
  if (typeof value === 'object') return canonicalObject(value as Readonly<Record<string, unknown>>)
  throw new AppError('invalid', `A value of type ${typeof value} has no JSON text`)
}

/**
 * Reads JSON as strictly as RFC 8785 and RFC 7493 ask: a key given twice, a lone surrogate, a number that does not fit
 * or an integer that would lose digits is an `invalid` AppError, and so are nesting beyond the limit and a key that
 * would reach an object's prototype. `JSON.parse` alone hides all of these.
 */
export function parseStrictJson(text: string, limits: JsonLimits = defaultJsonLimits): unknown {
  const outline = outlineOf(text, limits)
  let value: unknown
  try {
    value = limits.mend ? wellFormed(JSON.parse(text)) : JSON.parse(text)
  } catch (reason) {
    throw new AppError('invalid', 'The JSON does not parse', { cause: reason })
  }
  // Every colon outside a string names one member; a member less in the value is a key that was there twice.
  if (countMembers(value) !== outline.members) {
    throw new AppError('invalid', `The JSON holds the key ${JSON.stringify(repeatedKey(text))} twice in one object`)
  }
  return value
}

/** The same for bytes; text that is no UTF-8, or that starts with a byte order mark, is refused too. */
export function parseStrictJsonBytes(bytes: Uint8Array, limits: JsonLimits = defaultJsonLimits): unknown {
  let text: string
  try {
    text = isAscii(bytes)
      ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
      : utf8.decode(bytes)
  } catch (reason) {
    throw new AppError('invalid', 'The text is not UTF-8', { cause: reason })
  }
  return parseStrictJson(text, limits)
}

/** The same value with U+FFFD for each half of a surrogate pair, which no package may hold; itself where there is none. */
export function wellFormed<T>(value: T): T {
  if (typeof value === 'string')
    return (loneSurrogate.test(value) ? value.replace(loneSurrogates, '\ufffd') : value) as T
  if (Array.isArray(value)) return value.map(wellFormed) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [wellFormed(key), wellFormed(inner)])) as T
}

const loneSurrogates = /\p{Surrogate}/gu
const loneSurrogate = /\p{Surrogate}/u
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function canonicalString(text: string): string {
  if (loneSurrogate.test(text)) throw new AppError('invalid', 'A text holds half of a surrogate pair')
  return JSON.stringify(text)
}

function canonicalNumber(value: number): string {
  if (!Number.isFinite(value)) throw new AppError('invalid', `JSON has no number ${value}`)
  return JSON.stringify(value)
}

function canonicalArray(values: readonly unknown[]): string {
  if (values.every(isFiniteNumber)) return JSON.stringify(values)
  let text = '['
  for (let index = 0; index < values.length; index++) text += (index > 0 ? ',' : '') + canonicalize(values[index])
  return `${text}]`
}

function canonicalObject(fields: Readonly<Record<string, unknown>>): string {
  let text = '{'
  // The default order of `sort` is that of UTF-16 code units, as the RFC asks. An absent field has no member.
  for (const key of Object.keys(fields).sort()) {
    const value = fields[key]
    if (value !== undefined) text += `${text.length > 1 ? ',' : ''}${canonicalString(key)}:${canonicalize(value)}`
  }
  return `${text}}`
}

function isFiniteNumber(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value)
}

/** Counts the members and watches depth and numbers, without building anything. */
function outlineOf(text: string, limits: JsonLimits): { readonly members: number } {
  let members = 0
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) at = endOfString(text, at)
    else if (code === colon) members++
    else if (code === openBrace || code === openBracket) {
      if (++depth > limits.depth) throw new AppError('invalid', `The JSON is nested deeper than ${limits.depth} levels`)
    } else if (code === closeBrace || code === closeBracket) depth--
    else if (code === minus || isDigit(code)) {
      const end = endOfNumber(text, at)
      // A double holds every integer of 15 digits.
      if (end - at > 15) refuseLossyInteger(text.slice(at, end))
      at = end - 1
    }
  }
  return { members }
}

const [quote, backslash, colon, minus] = [0x22, 0x5c, 0x3a, 0x2d]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** The index of the closing quote, or the end of a text that breaks off. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === quote) return at
    at += code === backslash ? 2 : 1
  }
  return text.length
}

function endOfNumber(text: string, start: number): number {
  let at = start + 1
  // Digits, `+`, `-`, `.`, `e` and `E`; whether they make a number is JSON.parse's to say.
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (!isDigit(code) && code !== minus && code !== 0x2b && code !== 0x2e && (code | 0x20) !== 0x65) break
  }
  return at
}

function refuseLossyInteger(literal: string): void {
  if (!/^-?\d+$/.test(literal)) return
  const value = Number(literal)
  // A number in its canonical form (1e20 as 100000000000000000000) is as exact as the double behind it.
  if (!Number.isFinite(value) || (String(value) !== literal && BigInt(value) !== BigInt(literal)))
    throw new AppError('invalid', `The integer ${literal.slice(0, 40)} loses digits: write it as text`)
}

/** The number of members in a value and all that it holds; refuses texts and numbers that have no canonical form. */
function countMembers(value: unknown): number {
  if (typeof value === 'string') canonicalString(value)
  else if (typeof value === 'number') canonicalNumber(value)
  else if (Array.isArray(value)) return countInArray(value)
  else if (typeof value === 'object' && value !== null) return countInObject(value as Record<string, unknown>)
  return 0
}

function countInArray(values: readonly unknown[]): number {
  let members = 0
  for (const value of values) if (!isFiniteNumber(value)) members += countMembers(value)
  return members
}

function countInObject(fields: Readonly<Record<string, unknown>>): number {
  const keys = Object.keys(fields)
  let members = keys.length
  for (const key of keys) {
    if (loneSurrogate.test(key)) throw new AppError('invalid', 'A key holds half of a surrogate pair')
    if (key === '__proto__') throw new AppError('invalid', 'The JSON holds the forbidden key __proto__')
    members += countMembers(fields[key])
  }
  return members
}

/** The key that stands twice in one object; only asked once it is known that there is one. */
function repeatedKey(text: string): string {
  const open: Set<string>[] = []
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === openBrace || code === openBracket) open.push(new Set())
    else if (code === closeBrace || code === closeBracket) open.pop()
    else if (code === quote) {
      const end = endOfString(text, at)
      if (/^\s*:/.test(text.slice(end + 1, end + 64))) {
        const key = JSON.parse(text.slice(at, end + 1)) as string
        if (open.at(-1)?.has(key)) return key
        open.at(-1)?.add(key)
      }
      at = end
    }
  }
  return ''
}
