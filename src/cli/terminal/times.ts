import { isoTime } from '../../formats/formats.ts'
import type { Cli } from './cli.ts'

/** Times are shown and read in the zone of the machine, or of TZ, which Node heeds. */

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

type Said = Pick<Cli, 'globals'>

/** A time as people say it: `today 14:05`, `Mon 14:05` within a week, `3 Mar`, `3 Mar 2025`; in full with --plain. */
export function timeText(cli: Said, time: number, now = Date.now()): string {
  return cli.globals().plain ? fullTime(time) : (nearText(time, now, clockText(time)) ?? dayText(time, now))
}

/** The same with the time of the day also for a distant one: `3 Mar 2025 14:05`, with seconds `today 14:05:09`. */
export function momentText(cli: Said, time: number, { seconds = false, now = Date.now() } = {}): string {
  if (cli.globals().plain) return fullTime(time, seconds)
  const clock = clockText(time, seconds)
  return nearText(time, now, clock) ?? `${dayText(time, now)} ${clock}`
}

/** In full, with its zone: `2026-11-28T14:05+01:00`. */
export function fullTime(time: number, seconds = false): string {
  const west = new Date(time).getTimezoneOffset()
  const local = new Date(time - west * 60_000).toISOString().slice(0, seconds ? 19 : 16)
  const ahead = Math.abs(Math.round(west))
  return `${local}${west > 0 ? '-' : '+'}${padded(Math.floor(ahead / 60))}:${padded(ahead % 60)}`
}

/** A day or time of the local calendar without a zone, as ISO 8601 writes it, or one with its zone; else undefined. */
export function localIsoTime(text: string): number | undefined {
  const time = isoTime(text)
  return time === undefined || !hasNoZone.test(text) ? time : ofLocalClock(time)
}

const hasNoZone = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?$/

/** The moment at which local clocks show what a clock in UTC shows at `time`. */
export function ofLocalClock(time: number): number {
  const utc = new Date(time)
  return new Date(
    utc.getUTCFullYear(),
    utc.getUTCMonth(),
    utc.getUTCDate(),
    utc.getUTCHours(),
    utc.getUTCMinutes(),
    utc.getUTCSeconds(),
    utc.getUTCMilliseconds(),
  ).getTime()
}

function nearText(time: number, now: number, clock: string): string | undefined {
  const ago = Math.round((midnight(now) - midnight(time)) / 86_400_000)
  if (ago === 0) return `today ${clock}`
  if (ago === 1) return `yesterday ${clock}`
  if (ago === -1) return `tomorrow ${clock}`
  return ago > 1 && ago < 7 ? `${days[new Date(time).getDay()]} ${clock}` : undefined
}

function dayText(time: number, now: number): string {
  const at = new Date(time)
  const year = at.getFullYear() === new Date(now).getFullYear() ? '' : ` ${at.getFullYear()}`
  return `${at.getDate()} ${months[at.getMonth()]}${year}`
}

function clockText(time: number, seconds = false): string {
  const at = new Date(time)
  return `${at.getHours()}:${padded(at.getMinutes())}${seconds ? `:${padded(at.getSeconds())}` : ''}`
}

function midnight(time: number): number {
  return new Date(time).setHours(0, 0, 0, 0)
}

function padded(value: number): string {
  return String(value).padStart(2, '0')
}
