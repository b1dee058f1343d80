import type { Command, CommanderError } from 'commander'
import { AppError, toAppError } from '../../errors.ts'
import { escapedJson } from '../../formats/terminal-text.ts'
import { type Cli, Interrupted } from './cli.ts'
import { coloured } from './colour.ts'
import { type Io, interrupted, stripControls, terminated } from './io.ts'

/** A command line that the command tree refuses, and the command that refused it. */
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

/** Says what went wrong, once and in one place, and gives the exit code. */
export function report(thrown: unknown, cli: Cli, argv: readonly string[]): number {
  if (thrown instanceof Interrupted) return thrown.exit
  if (cli.io.signal.aborted) return signalExit(cli.io)
  const error = explain(thrown, cli)
  // A flag behind the mistake has not been read by then.
  const words = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv
  if (cli.globals().json || words.includes('--json'))
    cli.io.err(
      escapedJson(
        JSON.stringify({ error: error.message, details: error.details, code: error.shownCode, exit: error.exit }),
      ),
    )
  else {
    // A provider's or a server's own words may be among them.
    cli.io.err(`${coloured(cli, 'stderr', 'red', 'aichat:')} ${stripControls(error.message)}`)
    for (const detail of error.details) cli.io.err(`  ${stripControls(detail)}`)
    if (error.code === 'internal' && !cli.globals().debug)
      cli.io.err('  This is a bug; run it again with --debug and report what it prints')
  }
  if (cli.globals().debug)
    for (let reason: unknown = error; reason instanceof Error; reason = reason.cause)
      cli.io.err(stripControls(String(reason.stack)))
  return error.exit
}

/** The exit code of a command that a signal ended: 128 and the signal's number. */
export function signalExit({ signal }: Io): number {
  if (signal.reason === interrupted) return 130
  return signal.reason === terminated ? 143 : 129
}

function explain(thrown: unknown, cli: Cli): AppError {
  if (thrown instanceof UsageError) return usage(thrown)
  if (cli.signal().aborted && !(thrown instanceof AppError && thrown.code === 'timeout'))
    return new AppError('timeout', `No answer within ${cli.globals().timeout}`, { cause: thrown })
  const error = toAppError(thrown)
  const { path } = (thrown ?? {}) as { path?: unknown }
  // Who runs the command may know which file it is; a client of the service may not.
  return error.code === 'io' && error !== thrown && typeof path === 'string'
    ? new AppError('io', error.message, { details: [`It is ${path}`, ...error.details], cause: thrown })
    : error
}

/** commander's message as one of ours: what is wrong, what may have been meant, where to read on. */
function usage({ thrown, command }: UsageError): AppError {
  const path = pathOf(command)
  const readOn = `See: aichat ${['help', ...path].join(' ')}`
  if (thrown.code === 'commander.help') {
    const names = command.commands.map((sub) => sub.name()).join(', ')
    return new AppError('usage', `aichat ${path.join(' ')} needs one of its commands: ${names}`, { details: [readOn] })
  }
  const [said = '', meant] = thrown.message.replace(/^error: /, '').split('\n')
  const message = said.charAt(0).toUpperCase() + said.slice(1)
  const unknown = path.length === 0 ? /^Unknown command '(.*)'$/.exec(message)?.[1] : undefined
  return new AppError('usage', message.replace(/\.$/, ''), {
    details: [
      ...(meant ? [meant.replace(/^\(|\)$/g, '')] : []),
      ...(unknown === undefined ? [] : [`To ask it as a question: aichat chat "${unknown}"`]),
      readOn,
    ],
    cause: thrown,
  })
}

function pathOf(command: Command): string[] {
  return command.parent ? [...pathOf(command.parent), command.name()] : []
}
