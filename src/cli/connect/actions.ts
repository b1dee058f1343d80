import { AppError } from '../../errors.ts'
import type { Environment } from '../../settings/settings.ts'
import type { Cli } from '../terminal/cli.ts'
import { note, print } from '../terminal/output.ts'
import { findProgram } from '../terminal/programs.ts'
import { table } from '../terminal/table.ts'
import { clientNamed, clientNames, clients, type Variables } from './clients.ts'
import { findDaemon } from './daemon.ts'
import { keyOf } from './keys.ts'
import { chooseModels, type ModelChoice } from './models.ts'

export interface ConnectOptions extends ModelChoice {
  readonly key?: string
  readonly shell?: Shell
}

/** Prints the lines for a shell that point a client at the daemon, with a key of its own; without a client lists them. */
export async function connect(cli: Cli, name: string | undefined, options: ConnectOptions): Promise<void> {
  if (name === undefined) {
    const [unused] = Object.keys(options)
    if (unused !== undefined) throw new AppError('usage', `Which client? --${unused} needs one of: ${clientNames()}`)
    return listClients(cli)
  }
  const client = clientNamed(name)
  const server = await findDaemon(cli)
  const models = await chooseModels(cli, options)
  const model = models[0]!
  const pointing = { server, key: await keyOf(cli, name, options, server), model, models }
  const environment = client.environment(pointing)
  const args = client.args?.(pointing) ?? []
  const present = Object.fromEntries(Object.entries(environment).map(([variable, value]) => [variable, value ?? null]))
  const value = {
    client: name,
    server,
    model: model.id,
    models: models.map(({ id }) => id),
    environment: present,
    args,
  }
  await print(cli, value, () =>
    shellLines(environment, { program: client.program, args }, options.shell ?? shellOf(cli.io.environment)),
  )
  note(cli, `aichat: the model is ${model.id}; these lines hold a key: keep them to yourself`)
  if (cli.io.stdoutIsTerminal)
    note(
      cli,
      `aichat: to point ${client.name} here: eval "$(aichat connect ${name})", or in fish: aichat connect ${name} | source`,
    )
}

async function listClients(cli: Cli): Promise<void> {
  const rows = Object.entries(clients).map(([client, { name, speaks, program }]) => ({
    client,
    name,
    speaks,
    program: (program && findProgram([program], cli.io.environment)) ?? null,
  }))
  await print(cli, { clients: rows }, () =>
    table(cli, rows, [
      ['CLIENT', (row) => row.client],
      ['NAME', (row) => row.name],
      ['SPEAKS', (row) => row.speaks],
      ['PROGRAM', (row) => row.program ?? (clients[row.client]!.program ? 'not found' : '')],
    ]),
  )
}

const shells = ['bash', 'zsh', 'fish'] as const

type Shell = (typeof shells)[number]

/** The shell of the user; bash's words serve others of its family. */
export function shellOf(environment: Environment): Shell {
  const name = environment['SHELL']?.split('/').at(-1)
  return shells.find((shell) => shell === name) ?? 'bash'
}

/** Lines for a shell that set an environment, unset what would override it, and start a program. */
export function shellLines(
  variables: Variables,
  { program, args }: { readonly program: string | undefined; readonly args: readonly string[] },
  shell: Shell,
): string {
  const isFish = shell === 'fish'
  const word = isFish ? fishWord : posixWord
  const lines = Object.entries(variables).map(([name, value]) => {
    if (value === undefined) return isFish ? `set -e ${name}` : `unset ${name}`
    return isFish ? `set -gx ${name} ${word(value)}` : `export ${name}=${word(value)}`
  })
  if (program === undefined || args.length === 0) return lines.join('\n')
  const command = `command ${program} ${args.map(word).join(' ')}`
  return [...lines, isFish ? `function ${program}; ${command} $argv; end` : `${program}() { ${command} "$@"; }`].join(
    '\n',
  )
}

function posixWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function fishWord(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
