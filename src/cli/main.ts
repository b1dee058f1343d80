import { Command, Help, Option } from 'commander'
import type { Operation } from '../operations/operation.ts'
import { version } from '../version.ts'
import { addAccountCommands } from './account/command.ts'
import { addUserCommands } from './account/users.ts'
import { addChatCommand } from './chat/command.ts'
import { addCompletionCommands } from './completion/command.ts'
import { addConfigCommands } from './config/command.ts'
import { addSecretCommands } from './config/secret-command.ts'
import { addHelpCommand } from './help/command.ts'
import { addModelCommands } from './models/command.ts'
import { addPersonaCommands } from './persona/command.ts'
import { addPluginCommands } from './plugin/command.ts'
import { addServeCommand } from './service/serve-command.ts'
import { addStatusCommands } from './service/status-command.ts'
import { addSessionCommands } from './session/command.ts'
import { addSpeechCommands } from './speech/command.ts'
import { type Cli, type Globals, parseDuration } from './terminal/cli.ts'
import { report, signalExit, UsageError } from './terminal/failure.ts'
import { type Io, processIo } from './terminal/io.ts'
import { firstOf } from './terminal/stop-signal.ts'

/**
 * The command line: reads arguments, asks for operations, prints. Returns the exit code.
 * Nothing of the core is loaded before a command's action asks for it, so that `--help` costs the command tree alone.
 */
export async function main(argv: readonly string[], io: Io = processIo()): Promise<number> {
  const { cli, close } = openSession(io)
  try {
    const program = buildProgram(cli)
    const words = withPrompt(argv, program, io)
    if (words.length === 0) program.outputHelp()
    else await program.parseAsync(words, { from: 'user' }).catch(unlessShown)
    await cli.io.out(cli.shown.join(''))
    return io.signal.aborted && !cli.endsWithSignal ? signalExit(io) : cli.exit
  } catch (thrown) {
    return report(thrown, cli, argv)
  } finally {
    await close()
  }
}

/** commander leaves a command by throwing also when it has shown the help or the version, as it was asked to. */
function unlessShown(thrown: unknown): void {
  if (!(thrown instanceof UsageError) || thrown.thrown.exitCode !== 0) throw thrown
}

/** The command tree with its actions bound to a session; also read by help, completion, the manual and the tests. */
export function buildProgram(cli: Cli): Command {
  const program = new Command('aichat')
    .description('Chat with any model provider, speak, and keep personas with a memory.')
    .usage('[flags] COMMAND')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .configureOutput({ writeOut: (text) => void cli.shown.push(text), writeErr: () => {} })
    .configureHelp({
      helpWidth: Math.max(40, Math.min(cli.io.columns, 110)),
      commandDescription: (command) => sentence(command.description()),
      formatHelp: (command, help) =>
        `${Help.prototype.formatHelp.call(help, command, help)}${command.parent ? '\nThe flags of every command: aichat --help\n' : ''}`,
    })
    .version(`aichat ${version()} (aichat-toolkit)`, '-V, --version', 'show the version')
    .option('--server <url>', 'ask the daemon at this address')
    .option('--local', 'work in this process on the data folder')
    .option('--as <username>', 'act in the name of this user (in this process)')
    .option('--json', 'print JSON, exactly as the REST API gives it')
    .option('--plain', 'print tables as tab-separated lines without headings')
    .option('-q, --quiet', 'print no remarks')
    .option('-v, --verbose', 'also say on which data or server it works, and who answered')
    .option('--debug', 'print where an error came from')
    .addOption(
      new Option('--color <when>', 'colour headings and errors').choices(['auto', 'always', 'never']).default('auto'),
    )
    .option('--no-input', 'never ask anything')
    .option('-y, --yes', 'answer yes to every question')
    .option('--timeout <duration>', 'give up after 30s, 2m, 500ms …', checkedDuration)
    .option('--insecure', 'send secrets over plain http')
  // Each group states its commands; what they do is loaded when one of them runs.
  addChatCommand(program, cli)
  addPluginCommands(program, cli)
  addModelCommands(program, cli)
  addPersonaCommands(program, cli)
  addSessionCommands(program, cli)
  addSpeechCommands(program, cli)
  addServeCommand(program, cli)
  addAccountCommands(program, cli)
  addUserCommands(program, cli)
  addSecretCommands(program, cli)
  addConfigCommands(program, cli)
  addStatusCommands(program, cli)
  addCompletionCommands(program, cli)
  addHelpCommand(program, cli)
  for (const group of program.commands) group.helpCommand(false)
  throwUsageErrors(program)
  cli.bind(() => program.opts<Globals>())
  return program
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}

/** Every refusal names the command that it came from. */
function throwUsageErrors(command: Command): void {
  command.exitOverride((thrown) => {
    throw new UsageError(thrown, command)
  })
  for (const sub of command.commands) throwUsageErrors(sub)
}

/** The text as it was written, which is what a message about it quotes. */
function checkedDuration(text: string): string {
  parseDuration(text)
  return text
}

/** The way from a command to the core, opened at the first question. */
function openSession(io: Io): { readonly cli: Cli; close(): Promise<void> } {
  let globals: () => Globals = () => ({ color: 'auto', input: true })
  let settings: ReturnType<Cli['settings']> | undefined
  let backend: Promise<Backend> | undefined
  let signal: AbortSignal | undefined
  const cli: Cli = {
    io,
    shown: [],
    exit: 0,
    endsWithSignal: false,
    bind(read) {
      globals = read
    },
    globals: () => globals(),
    settings() {
      settings ??= import('../settings/settings.ts').then(({ readSettings }) => readSettings(io.environment))
      return settings
    },
    backend() {
      backend ??= import('./remote/backend.ts').then(({ openBackend }) => openBackend(cli))
      return backend
    },
    async ask(operation, input, signal = cli.signal()) {
      return (await cli.backend()).ask(operation, input, signal)
    },
    async askStream(operation, input, signal = cli.signal()) {
      return (await cli.backend()).askStream(operation as Operation, input, signal)
    },
    signal() {
      const { timeout } = globals()
      signal ??= timeout ? firstOf([io.signal], parseDuration(timeout)).signal : io.signal
      return signal
    },
  }
  return { cli, close: async () => (await backend?.catch(() => undefined))?.close() }
}

type Backend = Awaited<ReturnType<Cli['backend']>>

/** Flags of the root that take a value; the word behind one is no command. */
const valued = new Set(['--server', '--as', '--color', '--timeout'])
const chatFlags =
  /^(?:-[msrpfS]|--(?:model|session|persona|role|file|prompt|continue|temperature|max-tokens|no-stream|no-fallback|no-memory|dry-run))(?:=|$)/

/**
 * Bare text is a prompt after a chat flag, when the first argument holds white space, and after `--`; so is piped text without
 * any argument, and `-`, which stands for it. Anything else that is no command is left for the "unknown command" message.
 */
function withPrompt(argv: readonly string[], program: Command, io: Io): string[] {
  let at = 0
  while (at < argv.length && /^-./.test(argv[at]!) && argv[at] !== '--' && !chatFlags.test(argv[at]!))
    at += valued.has(argv[at]!) ? 2 : 1
  const word = argv[at]
  const asksForHelp = argv.slice(0, at).some((flag) => /^(?:-h|--help|-V|--version)$/.test(flag))
  const isPrompt =
    word === undefined
      ? io.stdinIsGiven() && !asksForHelp
      : word === '--' || word === '-' || chatFlags.test(word) || (/\s/.test(word) && !isCommand(program, word))
  return isPrompt ? [...argv.slice(0, at), 'chat', ...argv.slice(at)] : [...argv]
}

function isCommand(program: Command, word: string): boolean {
  return program.commands.some((command) => command.name() === word || command.aliases().includes(word))
}
