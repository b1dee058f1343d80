import { type Command, Help, Option } from 'commander'
import { versionLine } from '../version.ts'
import { addAccountCommands } from './account/command.ts'
import { addAuditCommand } from './audit/command.ts'
import { addBackupCommands } from './backup/command.ts'
import { addChatCommand } from './chat/command.ts'
import { addCompletionCommands } from './completion/command.ts'
import { addConfigCommands } from './config/command.ts'
import { addConnectCommands } from './connect/command.ts'
import { addDatabaseCommands } from './db/command.ts'
import { addExtensionCommand } from './extension/command.ts'
import { extensionNames, findExtension } from './extension/find.ts'
import { addHelpCommand } from './help/command.ts'
import { overview, summary } from './help/overview.ts'
import { addKeyCommands } from './key/command.ts'
import { addLimitCommands } from './limit/command.ts'
import { addMcpCommands } from './mcp/command.ts'
import { addModelCommands } from './models/command.ts'
import { addPersonaCommands } from './persona/command.ts'
import { addPluginCommands } from './plugin/command.ts'
import { addPriceCommands } from './prices/command.ts'
import { addSecretCommands } from './secret/command.ts'
import { addServeCommand, addServiceCommands, addStatusCommands } from './service/command.ts'
import { addSessionCommands } from './session/command.ts'
import { addSetUpCommand } from './setup/command.ts'
import { addSpeechCommands } from './speech/command.ts'
import { addTemplateCommands } from './template/command.ts'
import type { Cli, Globals } from './terminal/cli.ts'
import { CliCommand } from './terminal/command.ts'
import { UsageError } from './terminal/failure.ts'
import { parseDuration } from './terminal/parsers.ts'
import { addUsageCommands } from './usage/command.ts'
import { addUserCommands } from './users/command.ts'

/** Groups of commands in the order of the help; those about the whole tree name no command of theirs. */
const groups: readonly (readonly [names: string, add: (program: CliCommand, cli: Cli) => void])[] = [
  ['chat', addChatCommand],
  ['template', addTemplateCommands],
  ['plugin', addPluginCommands],
  ['models', addModelCommands],
  ['prices', addPriceCommands],
  ['persona', addPersonaCommands],
  ['mcp', addMcpCommands],
  ['session', addSessionCommands],
  ['tts', addSpeechCommands],
  ['serve __worker', addServeCommand],
  ['service', addServiceCommands],
  ['connect', addConnectCommands],
  ['setup', addSetUpCommand],
  ['register login logout whoami passwd auth', addAccountCommands],
  ['users', addUserCommands],
  ['key', addKeyCommands],
  ['audit', addAuditCommand],
  ['usage', addUsageCommands],
  ['limit', addLimitCommands],
  ['secret', addSecretCommands],
  ['backup', addBackupCommands],
  ['db', addDatabaseCommands],
  ['config', addConfigCommands],
  ['status doctor', addStatusCommands],
  ['', addCompletionCommands],
  ['', addHelpCommand],
]

/**
 * The command tree with its actions; also the source of help, completions and manual. For a command of the program it has that
 * command's group alone, since the tree of all takes some milliseconds to build, and for an extension that alone.
 */
export function buildProgram(cli: Cli, word?: string): CliCommand {
  const program: CliCommand = new CliCommand('aichat')
    .description(summary.description)
    .usage(summary.usage)
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .configureOutput({ writeOut: (text) => void cli.helpTexts.push(text), writeErr: () => {} })
    .configureHelp({
      helpWidth: Math.max(40, Math.min(cli.io.columns, 110)),
      minWidthToWrap: 20,
      commandDescription: (command) => sentence(command.description()),
      formatHelp: (command, help) =>
        command === program && !program.listsAll
          ? overview(extensionNames(cli.io.environment))
          : `${Help.prototype.formatHelp.call(help, command, help)}${afterHelp(command)}`,
    })
    .version(versionLine(), '-V, --version', 'show the version')
    .option('--server <url>', 'send the command to the daemon at this address')
    .option('--local', 'work in this process on the data folder')
    .option('--as <username>', 'act as this user (in this process)')
    .option('--json', 'print JSON, exactly as the REST API returns it')
    .option('--plain', 'print tables as tab-separated lines without headings, and answers as the model wrote them')
    .option('-q, --quiet', 'print fewer messages')
    .option('-v, --verbose', 'also name the data folder or server, and the model that answered')
    .option('--debug', 'print the stack of an error')
    .addOption(
      new Option('--color <when>', 'colour headings and errors').choices(['auto', 'always', 'never']).default('auto'),
    )
    .option('--no-input', 'never ask a question')
    .option('-y, --yes', 'answer yes to every question')
    .option('--timeout <duration>', 'give up after 30s, 2m, 500ms …', checkedDuration)
    .option('--insecure', 'allow plain http to another machine')
    .example(...summary.examples)
  const only = groups.filter(([names]) => word !== undefined && names.split(' ').includes(word))
  const extension = only.length === 0 && word !== undefined ? findExtension(word, cli.io.environment) : undefined
  if (extension !== undefined) addExtensionCommand(program, cli, word!, extension)
  else for (const [, add] of only.length > 0 ? only : groups) add(program, cli)
  throwUsageErrors(program)
  cli.bind(() => program.opts<Globals>())
  program.hook('preAction', async (_program, command) => {
    cli.running = command as CliCommand
    const named = command.options.find(({ short }) => short === '-m')?.attributeName()
    const model: unknown = named && command.getOptionValue(named)
    // An alias never has a colon; it is resolved here also where a server is asked.
    if (typeof model !== 'string' || model.includes(':')) return
    const { resolveAlias } = await import('../settings/model-aliases.ts')
    command.setOptionValue(named!, resolveAlias(model, (await cli.settings()).paths))
  })
  return program
}

/** The examples of a command, and the way to the global options. */
function afterHelp(command: Command): string {
  const examples = command instanceof CliCommand ? command.examples : []
  const lines = examples.length > 0 ? ['', 'Examples:', ...examples.map((line) => `  ${line}`)] : []
  return [...lines, ...(command.parent ? ['', 'Options of every command: aichat help commands'] : []), ''].join('\n')
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}

/** Makes each command's parse errors name that command. */
function throwUsageErrors(command: Command): void {
  command.exitOverride((thrown) => {
    throw new UsageError(thrown, command)
  })
  for (const sub of command.commands) throwUsageErrors(sub)
}

/** Checks a duration and keeps its text for messages. */
function checkedDuration(text: string): string {
  parseDuration(text)
  return text
}
