import { dirname } from 'node:path'
import type { Command, CommanderError } from 'commander'
import { AppError, toAppError } from '../../errors.ts'
import { escapedJson, isUnusablePath, whyNoFolder } from '../../formats/formats.ts'
import type { Cli } from './cli.ts'
import { coloured } from './colour.ts'
import { type Io, interrupted, stripControls, terminated } from './io.ts'
import { Interrupted } from './prompts.ts'

/** A command line that commander rejects, with the command that rejected it. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly thrown: CommanderError
  readonly command: Command

  constructor(thrown: CommanderError, command: Command) {
    super(thrown.message)
    this.thrown = thrown
    this.command = command
  }
}

/** Writes an error to stderr, as a message or with --json as JSON, and returns the exit code. */
export async function report(thrown: unknown, cli: Cli, argv: readonly string[]): Promise<number> {
  if (thrown instanceof Interrupted) return 130
  if (cli.io.signal.aborted) return signalExit(cli.io)
  const error = await explain(thrown, cli, argv)
  // commander has not read options that follow the mistake.
  const words = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv
  if (cli.globals().json || words.includes('--json') || words.includes('--json-stream'))
    cli.io.err(
      escapedJson(
        JSON.stringify({ error: error.message, details: error.details, code: error.shownCode, exit: error.exit }),
      ),
    )
  else {
    // The message may quote a provider or a server.
    cli.io.err(`${coloured(cli, 'stderr', 'red', 'aichat:')} ${stripControls(error.message)}`)
    for (const detail of error.details) cli.io.err(`  ${stripControls(detail)}`)
    if (error.code === 'internal' && !cli.globals().debug)
      cli.io.err('  This is a bug; run it again with --debug and report the output')
  }
  if (cli.globals().debug)
    for (let reason: unknown = error; reason instanceof Error; reason = reason.cause)
      cli.io.err(stripControls(String(reason.stack)))
  return error.exit
}

/** The exit code of a command that a signal ended: 128 plus the signal's number. */
export function signalExit({ signal }: Io): number {
  if (signal.reason === interrupted) return 130
  return signal.reason === terminated ? 143 : 129
}

async function explain(thrown: unknown, cli: Cli, argv: readonly string[]): Promise<AppError> {
  if (thrown instanceof UsageError) return usage(thrown, argv)
  if (cli.signal().aborted && !(thrown instanceof AppError && thrown.code === 'timeout'))
    return new AppError('timeout', `No answer within ${cli.globals().timeout}`, { cause: thrown })
  const error = withOptions(toAppError(thrown), cli)
  // Names the place here only: clients of the service must not learn its path.
  if (error.code !== 'io') return error
  const elsewhere = cli.io.environment['AICHAT_HOME'] ? [] : ['Or choose another folder: export AICHAT_HOME=FOLDER']
  const unmade = unmadeFolder(thrown)
  if (unmade !== undefined)
    return new AppError('cannot_create', `The folder ${unmade} cannot be made: ${whyNoFolder(thrown)}`, {
      details: elsewhere,
      cause: thrown,
    })
  const place = await placeOf(error, thrown, cli)
  if (place === undefined) return error
  return new AppError('io', error.message, { details: [place, ...error.details, ...elsewhere], cause: thrown })
}

/** The folder that a failed call of the system was to make; undefined for another failure, a full disk among them. */
function unmadeFolder(thrown: unknown): string | undefined {
  const { path, syscall, code } = (thrown ?? {}) as NodeJS.ErrnoException
  if (thrown instanceof AppError || typeof path !== 'string' || code === 'ENOSPC' || code === 'EDQUOT') return undefined
  // A file in the place of a folder may be met before anything is made.
  return syscall === 'mkdir' ? path : isUnusablePath(thrown) ? dirname(path) : undefined
}

/** The file of a failed call of the system; for a full disk the folder, which is that of the data where the call names none. */
async function placeOf(error: AppError, thrown: unknown, cli: Cli): Promise<string | undefined> {
  const { code, path } = (error.cause ?? {}) as { code?: unknown; path?: unknown }
  const file = typeof path === 'string' ? path : undefined
  if (error.message !== 'The disk is full' || code === undefined)
    return file !== undefined && error !== thrown ? `File: ${file}` : undefined
  const folder = file === undefined ? (await cli.settings().catch(() => undefined))?.paths.data : dirname(file)
  return folder === undefined ? undefined : `Folder: ${folder}`
}

/** The same failure with the options of the command in place of the fields of its request, where it has them. */
function withOptions(error: AppError, { running }: Cli): AppError {
  if (error.code !== 'invalid' || !/^Invalid (?:chat )?request$/.test(error.message) || !running) return error
  const lines = error.details.map((line) => {
    const [, field, problem] = /^(\w+(?:\.\w+)*): (.*)$/s.exec(line) ?? []
    const name = field === undefined ? undefined : running.nameOf(field)
    return { text: name === undefined ? line : `${name}: ${problem}`, isNamed: name !== undefined }
  })
  if (!lines.some(({ isNamed }) => isNamed)) return error
  const [first, ...others] = lines
  const single = others.length === 0 && first!.isNamed
  return new AppError('invalid', single ? `Invalid ${first!.text}` : 'Invalid options', {
    details: single ? [] : lines.map(({ text }) => text),
    cause: error,
  })
}

/** What other programs call our commands: commander's own suggestion goes by spelling alone. */
const otherNames: Readonly<Record<string, string>> = {
  delete: 'remove',
  del: 'remove',
  add: 'create',
  new: 'create',
  get: 'show',
}

/** Turns commander's message into a `usage` error with its suggestion and the help to read. */
function usage({ thrown, command }: UsageError, argv: readonly string[]): AppError {
  const path = pathOf(command)
  const seeHelp = `See: aichat ${['help', ...path].join(' ')}`
  if (thrown.code === 'commander.help') {
    const visible = command.createHelp().visibleCommands(command)
    const names = visible.map((sub) => sub.name()).join(', ')
    return new AppError('usage', `aichat ${path.join(' ')} needs a command: ${names}`, { details: [seeHelp] })
  }
  const [problem = '', suggestion] = thrown.message.replace(/^error: /, '').split(/\n(?=\(Did you mean )/)
  const message = choicesMessage(problem) ?? problem.charAt(0).toUpperCase() + problem.slice(1)
  const word = /^Unknown command '(.*)'$/.exec(message)?.[1]
  const unknown = path.length === 0 ? word : undefined
  const other = command.commands.find((sub) => sub.name() === otherNames[word ?? ''])?.name()
  return new AppError('usage', message.replace(/\.$/, ''), {
    details: [
      ...(other ? [`Did you mean ${other}?`] : suggestion ? [suggestion.replace(/^\(|\)$/g, '')] : []),
      // No option has a space: it is a text, such as an entry of a list.
      ...(/^Unknown option '-\S*\s.*'$/s.test(message) ? ['To give it as a text, put -- before it'] : []),
      ...(unknown === undefined ? [] : [`To ask it as a question: aichat chat ${quoted(questionIn(argv, unknown))}`]),
      seeHelp,
    ],
    cause: thrown,
  })
}

/** The names of a command below the program. */
function pathOf(command: Command): string[] {
  return command.parent ? [...pathOf(command.parent), command.name()] : []
}

/** The words from an unknown command to the first option. */
function questionIn(argv: readonly string[], unknown: string): string {
  const words = argv.slice(argv.indexOf(unknown))
  const option = words.findIndex((word) => word.startsWith('-'))
  return words.slice(0, option < 0 ? undefined : option).join(' ')
}

/** In double quotes, as shells read them. */
export function quoted(text: string): string {
  return `"${text.replace(/["\\$`]/g, '\\$&')}"`
}

/** `Invalid shell "tcsh": use bash, zsh or fish` for commander's sentence on choices; undefined for others. */
function choicesMessage(problem: string): string | undefined {
  const [, value, argument, choices] =
    /^command-argument value '(.*)' is invalid for argument '(.*)'\. Allowed choices are (.*)\.$/s.exec(problem) ?? []
  const [, option, optionValue, optionChoices] =
    /^option '(?:-\w, )?(--[\w-]+)[^']*' argument '(.*)' is invalid\. Allowed choices are (.*)\.$/s.exec(problem) ?? []
  const list = choices ?? optionChoices
  if (list === undefined) return undefined
  return `Invalid ${argument ?? option} "${value ?? optionValue}": use ${list.replace(/, ([^,]+)$/, ' or $1')}`
}
