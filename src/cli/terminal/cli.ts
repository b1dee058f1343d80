import type { Ask, AskStream } from '../../operations/operations.ts'
import type { Settings } from '../../settings/settings.ts'
import type { CliCommand } from './command.ts'
import type { Io } from './io.ts'

/** The options that every command takes, before or after its name. */
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

/** The context of a command: the terminal, the global options and lazy access to the core. */
export interface Cli {
  readonly io: Io
  /** Help and version texts, written once the command line is parsed. */
  readonly helpTexts: string[]
  /** The command that runs; undefined before its action starts. */
  running: CliCommand | undefined
  /** The exit code of a command that does not throw: 0, or 1 where a check failed. */
  exit: number
  /** True for a command that runs until a signal, such as `serve`. */
  endsWithSignal: boolean
  globals(): Globals
  /** Sets the source of the global options once the command tree is built. */
  bind(read: () => Globals): void
  settings(): Promise<Settings>
  backend(): Promise<Backend>
  /** Runs an operation in this process, or on the server that the options name. */
  readonly ask: Ask
  readonly askStream: AskStream
  /** Aborted by Ctrl-C, SIGTERM and --timeout; the default signal of `ask`. */
  signal(): AbortSignal
}

/** Runs operations: in this process, or on a server. */
export interface Backend {
  /** The server's address; undefined for this process. */
  readonly server: string | undefined
  readonly ask: Ask
  readonly askStream: AskStream
  close(): Promise<void>
}

/** Loads a group's actions when one of its commands runs. The returned function picks that command's action. */
export function lazyActions<Actions>(cli: Cli, load: () => Promise<Actions>) {
  return <Values extends unknown[]>(
    pick: (actions: Actions) => (cli: Cli, ...values: Values) => void | Promise<void>,
  ) =>
    async (...values: Values): Promise<void> => {
      await pick(await load())(cli, ...values)
    }
}
