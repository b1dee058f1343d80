import { AppError } from '../../errors.ts'
import { capital, createJsonMeter, type JsonBounds } from './meter.ts'

/*
 * JSON of all kinds. `JSON.parse` and `JSON.stringify` do the work; what stands here is what they do not do.
 *
 * - Untrusted text: `parseJson` (this file) refuses what nests too deep or would reach a prototype, and says where a fault is
 *   without quoting the text. `meter.ts` counts values, names, escapes and nesting while a body arrives, before anything is
 *   parsed: small texts can cost seconds.
 * - Large bodies: `turns.ts` reads, and `writer.ts` writes, in turns of the event loop, so that 30 MiB of one client keep no
 *   other waiting. The meter notes the long texts; they are read one by one, and the rest is parsed with short ones in their
 *   places.
 * - Texts that fit no memory, such as packages of gigabytes: `spans.ts` splits a file or a stream into members and items by
 *   its brackets and strings; each piece is then parsed alone.
 * - Checksums: `canonical.ts` writes the one text of a value by RFC 8785, and reads as strictly as that asks: no key twice, no
 *   integer that loses digits, no half of a surrogate pair.
 */

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

/** The same for text that a meter has counted already. `place` tells where the fault is that JSON.parse has found, if it can. */
export function parseMetered(text: string, name = 'the body', place = placeOf): unknown {
  const value = parseHandWritten(text, name, place)
  if (mayReachPrototype(text) && reachesPrototype(value)) {
    throw new AppError('invalid', `${capital(name)} holds a forbidden key`, {
      details: ['__proto__ and constructor.prototype are forbidden names'],
    })
  }
  return value
}

/** Parses a file written by hand, with or without a byte order mark. Throws `invalid` with the place of the fault. */
export function parseHandWritten(text: string, name = 'the file', place = placeOf): unknown {
  const mark = text.charCodeAt(0) === 0xfeff ? 1 : 0
  try {
    return JSON.parse(mark > 0 ? text.slice(mark) : text)
  } catch (reason) {
    const position = positionOf(reason)
    throw notJson(name, place(position === undefined ? undefined : position + mark, text) ?? explain(reason), reason)
  }
}

/** The refusal of a text that does not parse. */
export function notJson(name: string, place: string, cause: unknown): AppError {
  return new AppError('invalid', `${capital(name)} is not JSON`, { details: [place], cause })
}

/** Up to this many characters a look at the text is cheaper than a walk over the value. */
export const shortText = 65_536

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

/** The character at which JSON.parse has found a fault, where it says so. */
export function positionOf(reason: unknown): number | undefined {
  const position = /at position (\d+)/.exec(messageOf(reason))?.[1]
  return position === undefined ? undefined : Number(position)
}

/** V8 quotes the text around the fault; only the place is named, since the text may hold a secret. */
function placeOf(position: number | undefined, text: string): string | undefined {
  if (position === undefined) return undefined
  // To count the lines of a long text would cost more than to parse it.
  if (position > shortText) return `the fault is at character ${position + 1}`
  const before = text.slice(0, position).split('\n')
  return `the fault is at line ${before.length}, column ${before.at(-1)!.length + 1}`
}

/** The place of a fault for which V8 names no position. */
function explain(reason: unknown): string {
  return /end of JSON/.test(messageOf(reason)) ? 'it ends too early' : 'the fault is near its beginning'
}

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : ''
}
