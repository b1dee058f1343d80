import type { ChatModel } from '../wire/types.ts'

/** Numbers and times in the person's own locale and time zone. */
const locale = navigator.languages

const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 })
const compact = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 })
const twoDigits = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 })
const percents = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 })
const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })
const times = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' })
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'long' })

export const count = (value: number): string => whole.format(value)
export const shortCount = (value: number): string => compact.format(value)
export const decimal = (value: number): string => twoDigits.format(value)
export const percent = (share: number): string => percents.format(share)
export const date = (time: number): string => dates.format(time)
export const timeOfDay = (time: number): string => clock.format(time)
export const dateTime = (time: number): string => times.format(time)

/** A day of the ledger, such as `2026-11-22`, which has no time zone. */
export function day(text: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' }).format(Date.parse(text))
}

/** The least amount with a digit that is not 0: US dollars. */
const leastShown = 0.0001

/** US dollars: cents for sums, more digits for parts of a cent; as for `least` where amounts are side by side. */
export function dollars(value: number, least = value): string {
  const digits = least !== 0 && Math.abs(least) < 0.1 ? 4 : 2
  if (value > 0 && value < leastShown) return `< ${dollars(leastShown)}`
  return new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(value)
}

/** Milliseconds as a person reads them: `240 ms`, `3.2 s`, `1 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${count(ms)} ms`
  if (ms < 60_000) return `${new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }).format(ms / 1000)} s`
  return `${count(Math.floor(ms / 60_000))} min ${count(Math.floor((ms % 60_000) / 1000))} s`
}

/** Bytes in units of 1,000. */
export function bytes(value: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte']
  const at = value < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(value) / 3))
  const unit = units[at]!
  return new Intl.NumberFormat(locale, {
    style: 'unit',
    unit,
    unitDisplay: at === 0 ? 'long' : 'short',
    maximumFractionDigits: at > 1 ? 1 : 0,
  }).format(value / 1000 ** at)
}

/** What is known of a model: `128,000 tokens at once, at most 4,096 in an answer; takes and does: images, tools`. */
export function modelFacts(model: ChatModel): string {
  const { context_window: window, max_output: most, retired } = model
  const abilities = (['images', 'pdf', 'audio', 'tools', 'thinking', 'structured_output'] as const)
    .filter((name) => model[name])
    .map((name) => name.replace('_', ' '))
  return [
    window !== undefined && `${count(window)} tokens at once`,
    most !== undefined && `answers of at most ${count(most)}`,
    abilities.length > 0 && `takes and does: ${abilities.join(', ')}`,
    retired !== undefined && `retired: ${day(retired)}`,
  ]
    .filter(Boolean)
    .join('; ')
}

const steps = [
  ['year', 31_536_000_000],
  ['month', 2_592_000_000],
  ['week', 604_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** How long ago, or how soon: `3 minutes ago`. */
export function ago(time: number, now = Date.now()): string {
  const distance = time - now
  const [unit, size] = steps.find(([, size]) => Math.abs(distance) >= size) ?? ['second', 1000]
  return relative.format(Math.trunc(distance / size), unit)
}

/** A day at an axis: `22 Nov`. */
export function shortDay(time: number): string {
  return axisDays.format(time)
}

const axisDays = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' })
