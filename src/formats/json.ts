import { AppError } from '../errors.ts'
import { createJsonMeter, type JsonBounds } from './json-meter.ts'

/** Levels of nesting: JSON.parse takes hundreds of thousands, the code after it does not. */
const defaultDepth = 64

/**
 * Parses untrusted JSON. Refuses, with an `invalid` AppError, text that does not parse, that nests deeper than 64
 * levels, or that holds a key which would reach an object's prototype; with `too_large`, text beyond the given bounds.
 */
export function parseJson(text: string, name = 'the body', bounds: Partial<JsonBounds> = {}): unknown {
  createJsonMeter(name, { depth: defaultDepth, ...bounds }).push(Buffer.from(text))
  return parseMetered(text, name)
}

/** The same for text that a meter has counted already. */
export function parseMetered(text: string, name = 'the body'): unknown {
  let value: unknown
  try {
    value = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch (reason) {
    throw new AppError('invalid', `${capital(name)} is not JSON`, { details: [explain(reason, text)], cause: reason })
  }
  if (mayReachPrototype(text) && reachesPrototype(value)) {
    throw new AppError('invalid', `${capital(name)} holds a forbidden key`, {
      details: ['__proto__ and constructor.prototype are forbidden names'],
    })
  }
  return value
}

/** Up to this many characters a look at the text is cheaper than a walk over the value. */
const shortText = 65_536

/** Whether the value has to be walked: escapes may hide a name. */
function mayReachPrototype(text: string): boolean {
  if (text.length > shortText) return true
  return text.includes('__proto__') || text.includes('constructor') || /\\u00(?:5f|6|7)/i.test(text)
}

function reachesPrototype(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(reachesPrototype)
  if (Object.hasOwn(value, '__proto__')) return true
  const made = Object.hasOwn(value, 'constructor')
    ? (value as { readonly constructor: unknown }).constructor
    : undefined
  if (typeof made === 'object' && made !== null && Object.hasOwn(made, 'prototype')) return true
  return Object.values(value).some(reachesPrototype)
}

/** V8 quotes the text around the fault; only the place is told, since the text may hold a secret. */
function explain(reason: unknown, text: string): string {
  const message = reason instanceof Error ? reason.message : ''
  const position = /at position (\d+)/.exec(message)?.[1]
  if (position === undefined)
    return /end of JSON/.test(message) ? 'it ends too early' : 'the fault is near its beginning'
  // To count the lines of a long text would cost more than to parse it.
  if (Number(position) > shortText) return `the fault is at character ${Number(position) + 1}`
  const before = text.slice(0, Number(position)).split('\n')
  return `the fault is at line ${before.length}, column ${before.at(-1)!.length + 1}`
}

/** Begins a sentence with words of ours; the name of a file stays as it is. */
function capital(text: string): string {
  return text.startsWith('the ') ? `T${text.slice(1)}` : text
}
