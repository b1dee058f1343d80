import type { Command } from 'commander'
import { AppError } from '../../errors.ts'
import { settingNames } from '../../settings/settings.ts'
import { systemdUnit } from '../service/systemd-unit.ts'

/** Exit codes as sysexits(3) names them; one table for help, manual and README. */
export const exitCodes: readonly (readonly [string, string])[] = [
  ['0', 'done'],
  ['1', 'declined, partly failed, a check found something, or a chat gave no answer (refused, filtered, empty)'],
  ['64', 'wrong usage'],
  [
    '65',
    'bad data: an invalid plugin or package, a checksum that differs, a name already taken, a weak password, an input too long',
  ],
  ['66', 'an input file is not there'],
  ['67', 'unknown plugin, user, persona, voice or session'],
  ['69', 'unavailable: nobody could answer, a port is taken, a model is not there'],
  ['70', 'a bug'],
  ['73', 'an output file exists or cannot be written'],
  ['74', 'reading or writing failed'],
  ['75', 'try later: a rate limit or a timeout'],
  ['76', 'a reply that cannot be read'],
  ['77', 'not permitted'],
  ['78', 'something must be set up: a missing key, a weak secret, a damaged database'],
  ['130, 143', 'ended by a signal'],
]

/** Every variable that is read, with what it says. */
export const environmentTopic: readonly (readonly [string, string])[] = [
  [
    'AICHAT_HOME',
    'one folder for settings, data, state and cache; without it the folders of systemd or of the XDG specification are used',
  ],
  ...Object.values(settingNames).flatMap((setting) =>
    setting.variable
      ? [[setting.variable, `${setting.what}${setting.fallback ? ` (${setting.fallback})` : ''}`] as const]
      : [],
  ),
  ['HF_TOKEN', 'a token of the model hub, for models whose licence must be accepted; also as HF_TOKEN_FILE'],
  ['AICHAT_TOKEN', 'the token for the server of --server or AICHAT_SERVER; also as AICHAT_TOKEN_FILE'],
  [
    'JWT_SECRET',
    'what tokens are signed with, at least 32 random bytes; without it a secret is made and kept beside the database; also as JWT_SECRET_FILE',
  ],
  ['JWT_SECRET_PREVIOUS', 'the secret before it, whose tokens are still good; also as JWT_SECRET_PREVIOUS_FILE'],
  [
    'DEFAULT_ADMIN_PASSWORD',
    'the password of the default administrator, who is created at the start of a service without users; also as DEFAULT_ADMIN_PASSWORD_FILE',
  ],
  ['AICHAT_NO_INPUT', 'never ask anything, as --no-input'],
  ['CREDENTIALS_DIRECTORY', 'a folder with one file per secret, as systemd provides it'],
  ['CI', 'never ask anything, as --no-input'],
  ['NO_COLOR', 'print no colour; TERM=dumb does the same'],
  ['FORCE_COLOR', 'print colour also where no terminal is'],
  ['COLUMNS', 'how wide the help is where no terminal says it'],
  ['NODE_ENV', 'production refuses weak secrets'],
  [
    '<PROVIDER>_API_KEY',
    'the key of a provider, under the name that its plugin says; also as <PROVIDER>_API_KEY_FILE, the path of a file that holds it',
  ],
]

const topics: Record<string, () => string> = {
  environment: () => pairs(environmentTopic),
  'exit-codes': () => pairs(exitCodes),
  json: () =>
    [
      '--json prints exactly what the REST API gives: a collection is an object with a named array,',
      'one thing is the bare object. Times are milliseconds since 1970 UTC. It is the same on a terminal and in a pipe.',
      'An error is one line of JSON on stderr: {"error","details","code","exit"}; stdout then stays empty.',
      '',
    ].join('\n'),
  systemd: systemdUnit,
}

/** What `aichat help` knows beside the commands. */
export const topicNames: readonly string[] = Object.keys(topics)

/** The help of a command, or a topic's text. Throws `usage` with the topics there are. */
export function helpAbout(program: Command, words: readonly string[]): string {
  const topic = topics[words.join(' ')]
  if (topic) return topic()
  let command = program
  for (const word of words) {
    const next = command.commands.find((candidate) => candidate.name() === word || candidate.aliases().includes(word))
    if (!next)
      throw new AppError('usage', `There is no command or topic "${words.join(' ')}"`, {
        details: [
          `Commands: ${command.commands
            .map((sub) => sub.name())
            .filter((name) => !name.startsWith('_'))
            .join(', ')}`,
          `Topics: ${topicNames.join(', ')}`,
        ],
      })
    command = next
  }
  return command.helpInformation()
}

function pairs(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, what]) => `${name.padEnd(width)}  ${what}\n`).join('')
}
