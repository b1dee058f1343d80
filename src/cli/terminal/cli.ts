import { InvalidArgumentError } from 'commander'
import type { z } from 'zod'
import { AppError } from '../../errors.ts'
import { escapedJson } from '../../formats/terminal-text.ts'
import type { Ask, AskStream, Operation } from '../../operations/operation.ts'
import type { Settings } from '../../settings/settings.ts'
import { coloured, keepStyles } from './colour.ts'
import { type Io, stripControls } from './io.ts'

/** The flags that every command takes, before or after its name. */
export interface Globals {
  readonly server?: string
  readonly local?: boolean
  readonly as?: string
  readonly json?: boolean
  readonly plain?: boolean
  readonly quiet?: boolean
  readonly verbose?: boolean
  readonly debug?: boolean
  readonly color: 'auto' | 'always' | 'never'
  readonly input: boolean
  readonly yes?: boolean
  readonly timeout?: string
  readonly insecure?: boolean
}

/** What a command gets: the terminal, the flags, and the way to the core. Nothing is opened before it is asked for. */
export interface Cli {
  readonly io: Io
  /** Help and version that were asked for, written once the command line is read. */
  readonly shown: string[]
  /** The exit code of a command that ends well: 0, or 1 where a check found something. */
  exit: number
  /** True for a command whose ordinary end is a signal. */
  endsWithSignal: boolean
  globals(): Globals
  /** Tells where the flags are read from, once the command tree stands. */
  bind(read: () => Globals): void
  settings(): Promise<Settings>
  backend(): Promise<Backend>
  /** Asks the core, in this process or on the server that the flags name. */
  ask<I extends z.ZodType, O extends z.ZodType>(
    operation: Operation<I, O>,
    input: z.input<I>,
    signal?: AbortSignal,
  ): Promise<z.output<O>>
  askStream<I extends z.ZodType>(
    operation: Operation<I>,
    input: z.input<I>,
    signal?: AbortSignal,
  ): Promise<AsyncIterable<unknown>>
  /** Aborted by Ctrl-C, by SIGTERM and by --timeout; what is asked without a signal of its own heeds it. */
  signal(): AbortSignal
}

/** Where questions go: the core in this process, or a server. */
export interface Backend {
  /** The server's address; undefined for this process. */
  readonly server: string | undefined
  readonly ask: Ask
  readonly askStream: AskStream
  close(): Promise<void>
}

/** A column of a table: its heading and the text of a row. */
export type Column<Row> = readonly [heading: string, text: (row: Row) => string]

/** Prints a value as --json, rows as --plain, or what `human` makes of it; what others wrote must not steer the terminal. */
export async function show<T>(cli: Cli, value: T, human: (value: T) => string | Promise<string>): Promise<void> {
  if (cli.globals().json) return printJson(cli, value)
  const shown = await human(value)
  const text = cli.io.stdoutIsTerminal ? keepStyles(shown, stripControls) : shown
  if (text !== '') await cli.io.out(text.endsWith('\n') ? text : `${text}\n`)
}

/** Prints a value as JSON; on a terminal what it would obey stands there as escapes, which are the same value. */
export async function printJson(cli: Cli, value: unknown): Promise<void> {
  const text = `${JSON.stringify(value, null, 2)}\n`
  await cli.io.out(cli.io.stdoutIsTerminal ? escapedJson(text) : text)
}

/** Rows under headings, aligned for a reader; tab-separated and bare with --plain. */
export async function table<Row>(cli: Cli, rows: readonly Row[], columns: readonly Column<Row>[]): Promise<string> {
  const cells = rows.map((row) => columns.map(([, text]) => text(row).replace(/[\x00-\x1f\x7f-\x9f]+/g, ' ')))
  if (cli.globals().plain) return cells.map((line) => `${line.join('\t')}\n`).join('')
  if (rows.length === 0) return ''
  const all = [columns.map(([heading]) => heading), ...cells]
  const width = await columnCounter(all.flat())
  const widths = columns.map((_, index) => Math.max(...all.map((line) => width(line[index]!))))
  const [headings = '', ...lines] = all.map((line) =>
    line
      .map((cell, index) => (index === line.length - 1 ? cell : cell + ' '.repeat(widths[index]! - width(cell))))
      .join('  ')
      .trimEnd(),
  )
  return [coloured(cli, 'stdout', 'bold', headings), ...lines].map((line) => `${line}\n`).join('')
}

/**
 * Counts the columns that a terminal gives a text. What counts wide scripts, emoji and combining marks right takes longer
 * to load (35 ms) than most commands to run, so it is loaded where there are such.
 */
async function columnCounter(texts: readonly string[]): Promise<(text: string) => number> {
  if (!texts.some((text) => /[^\x20-\x7e]/.test(text))) return (text) => text.length
  const { default: stringWidth } = await import('string-width')
  return stringWidth
}

/** A remark beside the result; not with --quiet. */
export function note(cli: Cli, text: string): void {
  if (!cli.globals().quiet) cli.io.err(stripControls(text))
}

/** True when a question may be asked: somebody sits there and has not said otherwise. */
export async function mayAsk(cli: Cli): Promise<boolean> {
  const { io } = cli
  return cli.globals().input && io.stdinIsTerminal && io.stderrIsTerminal && !(await cli.settings()).noInput
}

/**
 * Asks before something is lost. `--yes` is a yes; where nobody can be asked it is a usage error that names the flag.
 * Throws `found` (exit 1) when the answer is no.
 */
export async function confirm(cli: Cli, question: string): Promise<void> {
  if (cli.globals().yes) return
  if (!(await mayAsk(cli))) throw new AppError('usage', `${question} Nobody can be asked here: say --yes`)
  if (!(await askTerminal<boolean>(cli, { type: 'confirm', message: question, default: false })))
    throw new AppError('found', 'Nothing was changed')
}

/** A question of inquirer's (https://github.com/SBoudrias/Inquirer.js), without its name. */
export interface Question {
  readonly type: 'confirm' | 'input' | 'password' | 'checkbox'
  readonly message: string
  readonly default?: unknown
  readonly choices?: readonly object[]
}

/**
 * Asks on stderr. Ctrl-C is an interruption like any other; a signal ends the question too, and in each case the terminal
 * is left as it was.
 */
export async function askTerminal<T>(cli: Cli, question: Question): Promise<T> {
  const { default: inquirer } = await import('inquirer')
  // The package reads `signal`, its types do not name it.
  const context = { output: cli.io.stderr, signal: cli.io.signal } as object
  try {
    const { answer } = await inquirer.createPromptModule(context)([
      { ...question, message: stripControls(question.message), name: 'answer' } as never,
    ])
    return answer as T
  } catch (reason) {
    if (reason instanceof Error && reason.name === 'ExitPromptError') throw new Interrupted()
    throw reason
  }
}

/** The user or the system asked the command to stop: exit 130 or 143, without a message. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
  readonly exit: number

  constructor(exit = 130) {
    super('interrupted')
    this.exit = exit
  }
}

/** The longest time that a timer takes, about 24 days: milliseconds. */
const longestTimer = 2 ** 31 - 1

/** Milliseconds of a duration as people write it: `30`, `30s`, `2m`, `500ms`. Throws `usage` for anything else. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)?$/.exec(text.trim())
  const factors = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
  const value = match ? Number(match[1]) * factors[(match[2] ?? 's') as keyof typeof factors] : Number.NaN
  if (!(value > 0)) throw new AppError('usage', `"${text}" is no duration: write 30s, 2m or 500ms`)
  return Math.min(value, longestTimer)
}

/** The number that a flag was given; what is none is a usage error that names the flag. */
export function parseNumber(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (!Number.isFinite(value)) throw new InvalidArgumentError('Give a number')
  return value
}

/**
 * The time that a flag was given, as a day or time of ISO 8601 or in milliseconds since 1970, in milliseconds since 1970
 * UTC; anything else is a usage error that names the flag.
 */
export function parseTime(text: string): number {
  const isWritten = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?$/.test(text.trim())
  const value = isWritten ? Date.parse(text.trim()) : parseNumber(text)
  if (!Number.isSafeInteger(value)) throw new InvalidArgumentError('Give a time such as 2024-05-08 or 2024-05-08T17:30')
  return value
}

/** The count that a flag was given, 1 or more; anything else is a usage error that names the flag. */
export function parseCount(text: string): number {
  const value = parseNumber(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('Give a whole number, 1 or more')
  return value
}
