import { InvalidArgumentError } from 'commander'
import type { z } from 'zod'
import { AppError } from '../errors.ts'
import type { Ask, AskStream, Operation } from '../operations/operation.ts'
import type { Settings } from '../settings.ts'
import { coloured, keepingLooks } from './colour.ts'
import { forTerminal, type Io } from './io.ts'

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
  ask<I extends z.ZodType, O extends z.ZodType>(operation: Operation<I, O>, input: z.input<I>): Promise<z.output<O>>
  askStream<I extends z.ZodType>(operation: Operation<I>, input: z.input<I>): Promise<AsyncIterable<unknown>>
  /** Aborted by Ctrl-C and by --timeout. */
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
export async function show<T>(cli: Cli, value: T, human: (value: T) => string): Promise<void> {
  if (cli.globals().json) return cli.io.out(`${JSON.stringify(value, null, 2)}\n`)
  const text = cli.io.stdoutIsTerminal ? keepingLooks(human(value), forTerminal) : human(value)
  if (text !== '') await cli.io.out(text.endsWith('\n') ? text : `${text}\n`)
}

/** Rows under headings, aligned for a reader; tab-separated and bare with --plain. */
export function table<Row>(cli: Cli, rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const cells = rows.map((row) => columns.map(([, text]) => text(row).replace(/[\x00-\x1f\x7f-\x9f]+/g, ' ')))
  if (cli.globals().plain) return cells.map((line) => `${line.join('\t')}\n`).join('')
  if (rows.length === 0) return ''
  const all = [columns.map(([heading]) => heading), ...cells]
  const widths = columns.map((_, index) => Math.max(...all.map((line) => width(line[index]!))))
  const [headings = '', ...lines] = all.map((line) =>
    line
      .map((cell, index) => (index === line.length - 1 ? cell : cell + ' '.repeat(widths[index]! - width(cell))))
      .join('  ')
      .trimEnd(),
  )
  return [coloured(cli, 'stdout', 'bold', headings), ...lines].map((line) => `${line}\n`).join('')
}

/** Characters, not bytes; wide scripts count double as terminals draw them. */
function width(text: string): number {
  let columns = 0
  for (const character of text)
    columns += /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/.test(
      character,
    )
      ? 2
      : 1
  return columns
}

/** A remark beside the result; not with --quiet. */
export function note(cli: Cli, text: string): void {
  if (!cli.globals().quiet) cli.io.err(forTerminal(text))
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
  const { default: inquirer } = await import('inquirer')
  const { answer } = await ended(
    inquirer.createPromptModule({ output: cli.io.stderr as never })([
      { type: 'confirm', name: 'answer', message: question, default: false },
    ]),
  )
  if (!answer) throw new AppError('found', 'Nothing was changed')
}

/** Ctrl-C at a question is an interruption like any other. */
export async function ended<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
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
