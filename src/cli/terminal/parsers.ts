import { InvalidArgumentError } from 'commander'
import { AppError } from '../../errors.ts'
import { localIsoTime } from './times.ts'

/** The longest delay of a timer, about 24 days: milliseconds. */
const longestTimer = 2 ** 31 - 1

/** Milliseconds of a duration such as `30`, `30s`, `2m` or `500ms`. Throws `usage` for anything else. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)?$/.exec(text.trim())
  const factors = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
  const value = match ? Number(match[1]) * factors[(match[2] ?? 's') as keyof typeof factors] : Number.NaN
  if (!(value > 0)) throw new AppError('usage', `Invalid duration "${text}": use 30s, 2m or 500ms`)
  return Math.min(value, longestTimer)
}

/** An option's number. Throws commander's error, which names the option. */
export function parseNumber(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (!Number.isFinite(value)) throw new InvalidArgumentError('Use a number')
  return value
}

/** An option's time in milliseconds since 1970 UTC: a local day or time in ISO 8601, or that number. Throws as `parseNumber`. */
export function parseTime(text: string): number {
  const value = localIsoTime(text.trim()) ?? Number(text.trim() || Number.NaN)
  if (!Number.isSafeInteger(value)) throw new InvalidArgumentError('Use a time such as 2024-05-08 or 2024-05-08T17:30')
  return value
}

/** An option's count, a whole number from 1. Throws as `parseNumber`. */
export function parseCount(text: string): number {
  const value = parseNumber(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('Use a whole number, 1 or more')
  return value
}

/** Collects the values of an option that may be repeated. */
export function repeated(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text]
}

/** Stands for null, which commander takes for an empty text. */
export const none = Symbol('none')

/** `none` for a word that stands for it; any other text as `parse` reads it. */
export function unless(word: string, parse: (text: string) => unknown = (text) => text) {
  return (text: string): unknown => (text.trim() === word ? none : parse(text))
}

/** The fields that have a value: options that were not given are left out of a request. */
export function given<T extends object>(all: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as never
}
