import { fstatSync } from 'node:fs'
import { withoutApiKeys } from '../accounts/accounts.ts'
import { escapedJson, printableLine } from '../formats/formats.ts'
import type { LogLevel } from '../settings/settings.ts'
import type { LineWriter } from './line-writer.ts'

/** The fields of a log event: never a body, a prompt, a token, a key or a password. */
export interface LogEvent {
  readonly [field: string]: string | number | boolean | null | undefined
}

export interface WriteEvent {
  (message: string, event?: LogEvent): void
  /** Whether events of this level are written: others need not be made. */
  readonly isOn: boolean
}

export interface Log {
  readonly error: WriteEvent
  readonly warn: WriteEvent
  readonly info: WriteEvent
  readonly debug: WriteEvent
  /** Writes as `info` at any level: that a service listens, which programs wait for. */
  readonly notice: WriteEvent
}

const order: readonly LogLevel[] = ['error', 'warn', 'info', 'debug']

/** syslog(3) priorities, which journald reads at the start of a line. */
const priorities: Record<LogLevel, number> = { error: 3, warn: 4, info: 6, debug: 7 }

export type LogFormat = 'text' | 'json' | 'journal'

/**
 * Writes events as lines: text for a terminal, JSON for a collector, and syslog priorities without a time under
 * systemd, since its journal adds one. The fields of `always` stand in each line. Escapes line breaks in values, which could forge lines.
 */
export function createLog(
  level: LogLevel | (() => LogLevel),
  format: LogFormat,
  writer: LineWriter,
  always: LogEvent = {},
): Log {
  const limit = () => order.indexOf(typeof level === 'string' ? level : level())
  const at = (of: LogLevel, isAlwaysOn = false): WriteEvent => {
    const isOn = () => isAlwaysOn || order.indexOf(of) <= limit()
    const write = (message: string, event: LogEvent = {}) => {
      if (!isOn()) return
      writer.write(`${withoutApiKeys(lineOf(of, message, { ...always, ...event }, format))}\n`)
      // A failure may be the last event of this process.
      if (of === 'error' || of === 'warn') writer.flush()
    }
    return Object.defineProperty(write, 'isOn', { get: isOn }) as WriteEvent
  }
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug'), notice: at('info', true) }
}

/** journald when stderr is its socket (systemd.exec(5), JOURNAL_STREAM), text on a terminal, else JSON. */
export function logFormat(environment: Readonly<Record<string, string | undefined>>, isTerminal: boolean): LogFormat {
  const stream = environment['JOURNAL_STREAM']
  if (stream) {
    const { dev, ino } = fstatSync(2)
    if (stream === `${dev}:${ino}`) return 'journal'
  }
  return isTerminal ? 'text' : 'json'
}

function lineOf(level: LogLevel, message: string, event: LogEvent, format: LogFormat): string {
  if (format === 'json')
    return escapedJson(JSON.stringify({ ts: new Date().toISOString(), level, msg: message, ...event }))
  const fields = Object.entries(event)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? quoted(value) : value}`)
  const text = [clean(message), ...fields].join(' ')
  return format === 'journal'
    ? `<${priorities[level]}>${text}`
    : `${new Date().toISOString().slice(11, 19)} ${level.padEnd(5)} ${text}`
}

function quoted(value: string): string {
  return /^[\w.:/@{}-]+$/.test(value) ? value : escapedJson(JSON.stringify(value))
}

function clean(text: string): string {
  return printableLine(text)
}
