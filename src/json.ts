import { AppError } from './errors.ts'

export interface JsonLimits {
  /** Levels of nesting; JSON.parse takes hundreds of thousands, what comes after it does not. */
  readonly depth?: number
}

const defaultDepth = 64

/**
 * JSON from a stranger as a value. Refuses, with an `invalid` AppError, text that does not parse, that nests deeper than
 * the limit, or that holds a key which would reach an object's prototype.
 */
export function parseJson(text: string, what = 'the body', limits: JsonLimits = {}): unknown {
  const depth = limits.depth ?? defaultDepth
  if (isDeeper(text, depth)) throw new AppError('invalid', `${capital(what)} is nested more than ${depth} levels deep`)
  let value: unknown
  try {
    value = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch (reason) {
    throw new AppError('invalid', `${capital(what)} is not JSON`, { details: [explain(reason, text)], cause: reason })
  }
  if (mayReachPrototype(text) && reachesPrototype(value)) {
    throw new AppError('invalid', `${capital(what)} holds a forbidden key`, {
      details: ['__proto__ and constructor.prototype are no names for a field'],
    })
  }
  return value
}

/** One pass over the characters: brackets inside strings do not count. */
function isDeeper(text: string, limit: number): boolean {
  // The common case needs no scan: fewer opening brackets than levels.
  let depth = 0
  let inString = false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (inString) {
      if (code === 0x5c) index++
      else if (code === 0x22) inString = false
    } else if (code === 0x22) inString = true
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > limit) return true
    } else if (code === 0x7d || code === 0x5d) depth--
  }
  return false
}

/** A cheap look at the text, so that the walk over the value is rare; escapes may hide a name. */
function mayReachPrototype(text: string): boolean {
  return text.includes('__proto__') || text.includes('constructor') || /\\u00(?:5f|6|7)/i.test(text)
}

function reachesPrototype(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(reachesPrototype)
  return Object.entries(value).some(
    ([key, inner]) =>
      key === '__proto__' ||
      (key === 'constructor' && typeof inner === 'object' && inner !== null && Object.hasOwn(inner, 'prototype')) ||
      reachesPrototype(inner),
  )
}

/** V8 quotes the text around the fault; only the place is told, since the text may hold a secret. */
function explain(reason: unknown, text: string): string {
  const message = reason instanceof Error ? reason.message : ''
  const position = /at position (\d+)/.exec(message)?.[1]
  if (position === undefined)
    return /end of JSON/.test(message) ? 'it ends too early' : 'the fault is near its beginning'
  const before = text.slice(0, Number(position)).split('\n')
  return `the fault is at line ${before.length}, column ${before.at(-1)!.length + 1}`
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
