import { AppError } from '../../errors.ts'
import { suggestion } from '../../formats/formats.ts'
import { settingNames } from '../../settings/settings.ts'
import { printAnswer } from '../markdown/printer.ts'
import { systemdUnit } from '../service/systemd-unit.ts'
import type { Cli } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'
import { listOfPages, manualPages, pageNamed } from './pages.ts'

/** Exit codes of sysexits(3), for help and manual. */
export const exitCodes: readonly (readonly [string, string])[] = [
  ['0', 'success'],
  ['1', 'declined, partly failed, a failed check, or a chat without an answer (refused, filtered, empty)'],
  ['64', 'wrong usage'],
  [
    '65',
    'invalid data: a plugin or package, a wrong checksum, a name already taken, a weak password, a too long input',
  ],
  ['66', 'input file not found'],
  ['67', 'plugin, user, persona, voice or session not found'],
  ['69', 'unavailable: no model could answer, a port is taken, a model is not installed'],
  ['70', 'internal error: a bug'],
  ['73', 'an output file exists or cannot be written'],
  ['74', 'reading or writing failed'],
  ['75', 'try again later: a rate limit or a timeout'],
  ['76', 'invalid or incomplete answer from a server'],
  ['77', 'not permitted'],
  ['78', 'set-up needed: a missing key, a weak secret, a damaged database'],
  ['130, 143', 'ended by a signal'],
]

/** Environment variables and their meanings. */
export const environmentTopic: readonly (readonly [string, string])[] = [
  [
    'AICHAT_HOME',
    'one folder for settings, data, state and cache; the default is the folders of systemd or of the XDG specification',
  ],
  ...Object.values(settingNames).flatMap((setting) =>
    setting.variable
      ? [[setting.variable, `${setting.what}${setting.fallback ? ` (${setting.fallback})` : ''}`] as const]
      : [],
  ),
  ['HF_TOKEN', 'token for the model hub, for models with a licence to accept; also as HF_TOKEN_FILE'],
  ['AICHAT_TOKEN', 'token for the server of --server or AICHAT_SERVER; also as AICHAT_TOKEN_FILE'],
  [
    'JWT_SECRET',
    'secret that signs tokens, at least 32 random bytes; without it one is created beside the database; also as JWT_SECRET_FILE',
  ],
  ['JWT_SECRET_PREVIOUS', 'previous JWT_SECRET, whose tokens stay valid; also as JWT_SECRET_PREVIOUS_FILE'],
  [
    'DATABASE_URL',
    'PostgreSQL database that several instances share, postgres://USER:PASSWORD@HOST:PORT/NAME, in place of the one in the data folder; needs JWT_SECRET; also as DATABASE_URL_FILE',
  ],
  [
    'DEFAULT_ADMIN_PASSWORD',
    'password of the default administrator, created when a service starts without users; also as DEFAULT_ADMIN_PASSWORD_FILE',
  ],
  ['AICHAT_NO_INPUT', 'never ask a question, like --no-input'],
  ['CREDENTIALS_DIRECTORY', 'folder with one file per secret, as systemd provides it'],
  ['CI', 'never ask a question, like --no-input, and keep no chat that names no session'],
  ['NO_COLOR', 'print no colour, and answers as the model wrote them; TERM=dumb does the same'],
  ['FORCE_COLOR', 'print colour without a terminal too'],
  ['COLUMNS', 'width of the help without a terminal'],
  ['NODE_ENV', 'with the value production, weak secrets are refused'],
  [
    '<PROVIDER>_API_KEY',
    'key of a provider, under the name in its plugin; also as <PROVIDER>_API_KEY_FILE, the path of a file that holds it',
  ],
]

const topics: Record<string, (columns: number) => string | Promise<string>> = {
  environment: () => pairs(environmentTopic),
  'exit-codes': () => pairs(exitCodes),
  json: () =>
    [
      '--json prints exactly what the REST API returns: a collection is an object with a named array,',
      'one thing is the bare object. Times are milliseconds since 1970 UTC. A terminal and a pipe get the same.',
      'An error is one line of JSON on stderr: {"error","details","code","exit"}; stdout then stays empty.',
      '',
    ].join('\n'),
  manual: listOfPages,
  'plugin-file': async (columns) => (await import('./plugin-file.ts')).pluginFileText(columns),
  service: async () => (await import('./service-topic.ts')).serviceTopic(),
  systemd: systemdUnit,
}

/** The topic that lists each command and the options of all. */
const all = 'commands'

/** Topics of `aichat help` other than the commands. */
export function topicNames(): readonly string[] {
  return [all, ...Object.keys(topics), ...manualPages().map(({ name }) => name)]
}

/** Prints the help of a command, a topic or a page of the manual. Throws `usage`, with the known names, for another word. */
export async function printHelp(cli: Cli, program: CliCommand, words: readonly string[]): Promise<void> {
  const name = words.join(' ')
  const topic = topics[name]
  if (topic) return cli.io.out(await topic(cli.io.columns))
  const page = pageNamed(name)
  const isCommand = program.commands.some((command) => command.name() === name)
  if (page && !isCommand) return printAnswer(cli, page.text)
  program.listsAll = name === all
  const help = findCommand(program, name === all ? [] : words).helpInformation()
  await cli.io.out(page ? `${help}Manual: aichat help ${page.name}\n` : help)
}

function findCommand(program: CliCommand, words: readonly string[]): CliCommand {
  let command = program
  for (const word of words) {
    const commands = command.commands as readonly CliCommand[]
    const next = commands.find((sub) => sub.name() === word || sub.aliases().includes(word))
    if (!next) {
      const names = commands.map((sub) => sub.name()).filter((name) => !name.startsWith('_'))
      throw new AppError(
        'usage',
        `Command or topic "${words.join(' ')}" not found${suggestion(word, [...names, ...topicNames()])}`,
        {
          details: [`Commands: ${names.join(', ')}`, `Topics: ${topicNames().join(', ')}`],
        },
      )
    }
    command = next
  }
  return command
}

function pairs(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, meaning]) => `${name.padEnd(width)}  ${meaning}\n`).join('')
}
