import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolder } from '../../app/app.ts'
import { AppError } from '../../errors.ts'
import { suggestion } from '../../formats/formats.ts'
import { restartSettings, settingNames } from '../../settings/settings.ts'
import { printAnswer } from '../markdown/printer.ts'
import { systemdUnit } from '../service/systemd-unit.ts'
import type { Cli } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'
import { listOfPages, manualPages, pageNamed } from './pages.ts'

interface Texts {
  readonly exit_codes: readonly (readonly [code: string, meaning: string])[]
  /** The variables that are no settings; the first stands before these. */
  readonly environment: readonly (readonly [name: string, meaning: string])[]
  readonly json: readonly string[]
  /** How a daemon is run, reloaded and stopped; `SETTINGS` stands for those that need a restart. */
  readonly service: readonly string[]
}

const texts: Texts = JSON.parse(readFileSync(join(packageFolder('src'), 'cli/help/topics.json'), 'utf8'))

/** Exit codes of sysexits(3), for help and manual. */
export const { exit_codes: exitCodes } = texts

const [home, ...variables] = texts.environment

/** Environment variables and their meanings. */
export const environmentTopic: readonly (readonly [string, string])[] = [
  home!,
  ...Object.values(settingNames).flatMap(({ variable, what, fallback }) =>
    variable ? [[variable, `${what}${fallback ? ` (${fallback})` : ''}`] as const] : [],
  ),
  ...variables,
]

const topics: Record<string, (columns: number) => string | Promise<string>> = {
  environment: () => pairs(environmentTopic),
  'exit-codes': () => pairs(exitCodes),
  json: () => lines(texts.json),
  manual: listOfPages,
  'plugin-file': async (columns) => (await import('./plugin-file.ts')).pluginFileText(columns),
  service: () => lines(texts.service).replace('SETTINGS', listOfRestarts),
  systemd: systemdUnit,
}

const listOfRestarts = () =>
  Object.keys(restartSettings)
    .map((name) => `  ${name}`)
    .join('\n')

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

function lines(texts: readonly string[]): string {
  return texts.map((line) => `${line}\n`).join('')
}

function pairs(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, meaning]) => `${name.padEnd(width)}  ${meaning}\n`).join('')
}
