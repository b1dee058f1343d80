import type { Command } from 'commander'
import type { Operation } from '../operations/operations.ts'
import { buildProgram } from './program.ts'
import { erasingBusyLine, hasBusyLine } from './terminal/busy-line.ts'
import type { Backend, Cli, Globals } from './terminal/cli.ts'
import { report, signalExit, UsageError } from './terminal/failure.ts'
import type { Io } from './terminal/io.ts'
import { parseDuration } from './terminal/parsers.ts'
import { canAsk } from './terminal/prompts.ts'
import { firstOf } from './terminal/stop-signal.ts'

/** Parses arguments, runs operations, prints; returns the exit code. Actions load the core, so that help does not. */
export async function runCommand(argv: readonly string[], io: Io): Promise<number> {
  const { cli, close } = openCli(io)
  try {
    const words = (await opensConversation(argv, cli)) ? [...argv, 'chat'] : withChoice(withPrompt(argv, io), io)
    const program = buildProgram(cli, words[commandAt(words)])
    if (words.length === 0) program.outputHelp()
    else await program.parseAsync(words, { from: 'user' }).catch(unlessShown)
    await cli.io.out(cli.helpTexts.join(''))
    return io.signal.aborted && !cli.endsWithSignal ? signalExit(io) : cli.exit
  } catch (thrown) {
    return await report(thrown, cli, argv)
  } finally {
    await close()
  }
}

/** Reports a failure before the arguments were parsed; returns the exit code. */
export function reportFailure(thrown: unknown, argv: readonly string[], io: Io): Promise<number> {
  return report(thrown, openCli(io).cli, argv)
}

/** commander also throws after --help and --version, with exit code 0. */
function unlessShown(thrown: unknown): void {
  if (!(thrown instanceof UsageError) || thrown.thrown.exitCode !== 0) throw thrown
}

/** The context of a command line; settings and backend are opened at their first use. */
function openCli(outer: Io): { readonly cli: Cli; close(): Promise<void> } {
  const io = erasingBusyLine(outer)
  let globals: () => Globals = () => ({ color: 'auto', input: true })
  let settings: ReturnType<Cli['settings']> | undefined
  let backend: Promise<Backend> | undefined
  let signal: AbortSignal | undefined
  const cli: Cli = {
    io,
    helpTexts: [],
    running: undefined,
    exit: 0,
    endsWithSignal: false,
    bind(read) {
      globals = read
    },
    globals: () => globals(),
    settings() {
      settings ??= import('../settings/read-settings.ts').then(({ readSettings }) => readSettings(io.environment))
      return settings
    },
    backend() {
      backend ??= import('./remote/backend.ts').then(({ openBackend }) => openBackend(cli))
      return backend
    },
    async ask(operation, input, signal = cli.signal(), watch) {
      const asked = async () => (await cli.backend()).ask(operation, input, signal, watch)
      // The line of a chat says more.
      if (!io.stderrIsTerminal || hasBusyLine(io)) return asked()
      const { withProgress } = await import('./terminal/progress.ts')
      return withProgress(cli, commandPath(cli.running), asked)
    },
    async askStream(operation, input, signal = cli.signal(), watch) {
      return (await cli.backend()).askStream(operation as Operation, input, signal, watch)
    },
    signal() {
      const { timeout } = globals()
      signal ??= timeout ? firstOf([io.signal], parseDuration(timeout)).signal : io.signal
      return signal
    },
  }
  return {
    cli,
    async close() {
      await (await backend?.catch(() => undefined))?.close()
    },
  }
}

/** `persona backup`, of the command that runs. */
function commandPath(command: Command | null | undefined): string {
  return command?.parent ? `${commandPath(command.parent)} ${command.name()}`.trim() : ''
}

/** Global options with a value: the word behind one is no command. */
const valued = new Set(['--server', '--as', '--color', '--timeout'])
const chatOptions =
  /^(?:-(?:[Sc]+[msrpfot]?|[msrpfot])|--(?:model|session|persona|role|file|prompt|continue|no-log|temperature|max-tokens|option|schema|json-object|template|var|no-stream|no-fallback|no-memory|local-only|mcp|thinking|json-stream|max-cost|count|dry-run))(?:=|$)/

/**
 * Inserts `chat` before bare text: after a chat option, when the first argument holds white space, which no command's name
 * does, after `--`, for `-`, and for piped text without arguments. Other words stay and end as "unknown command".
 */
function withPrompt(argv: readonly string[], io: Io): readonly string[] {
  const at = commandAt(argv)
  const word = argv[at]
  const asksForHelp = argv.slice(0, at).some((option) => /^(?:-h|--help|-V|--version)$/.test(option))
  const isPrompt =
    word === undefined
      ? io.stdinIsPiped() && !asksForHelp
      : word === '--' || word === '-' || chatOptions.test(word) || /\s/.test(word)
  return isPrompt ? [...argv.slice(0, at), 'chat', ...argv.slice(at)] : argv
}

/** Whether global options alone are typed at a terminal that can hold a conversation. */
async function opensConversation(argv: readonly string[], cli: Cli): Promise<boolean> {
  const others = /^(?:-h|--help|-V|--version|--no-input|--json)$/
  if (!cli.io.stdoutIsTerminal || commandAt(argv) < argv.length || argv.some((word) => others.test(word))) return false
  return canAsk(cli)
}

/** `aichat session` alone asks at a terminal which conversation is meant; elsewhere it needs a command. */
function withChoice(
  argv: readonly string[],
  { stdinIsTerminal, stderrIsTerminal, environment }: Io,
): readonly string[] {
  const isAlone = argv.at(-1) === 'session' && commandAt(argv) === argv.length - 1
  const asks = stdinIsTerminal && stderrIsTerminal && environment['TERM'] !== 'dumb' && !argv.includes('--no-input')
  return isAlone && asks ? [...argv, 'choose'] : argv
}

/** The place of the first argument that is no global option and no value of one. */
function commandAt(argv: readonly string[]): number {
  let at = 0
  while (at < argv.length && /^-./.test(argv[at]!) && argv[at] !== '--' && !chatOptions.test(argv[at]!))
    at += valued.has(argv[at]!) ? 2 : 1
  return at
}
