import { AppError } from '../../errors.ts'
import type { Cli } from '../terminal/cli.ts'
import { stripControls } from '../terminal/io.ts'
import { note, print } from '../terminal/output.ts'
import type { Client, OfferedModel, Pointing } from './client.ts'
import { clientNamed, clientNames } from './clients.ts'
import { textOf } from './config/file.ts'
import { findDaemon } from './daemon.ts'
import { type FilePlan, pathsOf, planFiles, writePlans } from './files.ts'
import { type KeyInUse, keyOf, revokeMadeKey, revokeOnFailure } from './keys.ts'
import { listClients } from './list.ts'
import { chooseModels, type ModelChoice } from './models.ts'
import { placesOf } from './places.ts'
import {
  type Connection,
  type Connections,
  openConnections,
  printNameOf,
  shellNameOf,
  type WrittenFile,
} from './record.ts'
import { printEnvironment, report } from './report.ts'
import type { Shell } from './shell.ts'
import { undo } from './undo.ts'

export interface ConnectOptions extends ModelChoice {
  readonly key?: string
  readonly print?: true
  readonly shell?: Shell
  readonly undo?: true
}

/** Stands for the key in output and plans. */
const keyStandIn = 'KEY'

/** How long a key works that is printed and kept nowhere else. */
const printedKeyLife = '24h'

/** Points a client at the daemon, shows the changes that would do so, or undoes them; without a client lists them. */
export async function connect(cli: Cli, name: string | undefined, options: ConnectOptions): Promise<void> {
  if (name === undefined) {
    const [unused] = Object.keys(options)
    if (unused !== undefined) throw new AppError('usage', `Which client? --${unused} needs one of: ${clientNames()}`)
    return listClients(cli)
  }
  const client = clientNamed(name)
  refuseUnused(client, options)
  if (options.undo) return undo(cli, name)
  const connections = openConnections((await cli.settings()).paths)
  if (options.print && !client.environment) return printFiles(cli, name, options, connections)
  if (options.print || !client.files) return connectShell(cli, name, options, connections)
  await connectFiles(cli, name, options, connections)
}

/** Throws `usage` for options that would have no effect. */
function refuseUnused(client: Client, { undo, shell, print, ...others }: ConnectOptions): void {
  const [unused] = [...Object.keys(others), ...(print ? ['print'] : []), ...(shell ? ['shell'] : [])]
  if (undo && unused !== undefined) throw new AppError('usage', `--${unused} has no effect with --undo`)
  if (shell && !client.environment)
    throw new AppError('usage', `${client.name} reads its settings from files: leave --shell out`)
  if (shell && client.files && !print) throw new AppError('usage', 'Add --print to have lines for a shell')
}

/** Changes the files of a client, and revokes the key of an earlier connection that it no longer uses. */
async function connectFiles(cli: Cli, name: string, options: ConnectOptions, connections: Connections): Promise<void> {
  const client = clientNamed(name)
  const places = placesOf(cli.io.environment)
  const models = await modelsAt(cli, options)
  const place = connections.placeOf(name, pathsOf(client, places))
  const before = connections.get(place)
  // A file that cannot be changed is found before a key is made.
  draftPlans(cli, name, draftOf(models, connections.keyFile(place)), before)
  const [key, text] = await keyOf(cli, name, options, before, connections.readKey(place), models.server)
  const pointing = { ...draftOf(models, connections.keyFile(place)), key: text }
  const connection = connectionOf(pointing, options, key)
  let plans: readonly FilePlan[] = []
  let files: WrittenFile[] = []
  await revokeOnFailure(cli, key, before, () =>
    connections.replace(place, before, () => {
      plans = planFiles(client.files!(pointing, places), before?.files)
      files = [...writePlans(plans)]
      connections.writeKey(place, text)
      return { ...connection, files }
    }),
  )
  if (before?.key && before.key.id !== key?.id) await revokeMadeKey(cli, before.key)
  const isDone = plans.every((plan) => plan.isDone) && before?.key?.id === key?.id && before !== undefined
  await report(cli, name, pointing, { ...connection, files }, isDone)
}

/** Prints the lines for a shell that point a client here, with a key of their own; with `--print` it ends by itself. */
async function connectShell(cli: Cli, name: string, options: ConnectOptions, connections: Connections): Promise<void> {
  const shellName = options.print ? printNameOf(name) : shellNameOf(name)
  const expiry = options.print && options.key === undefined ? { expiresIn: printedKeyLife } : {}
  const before = connections.get(shellName)
  const models = await modelsAt(cli, options)
  const [key, text] = await keyOf(
    cli,
    name,
    { ...options, ...expiry },
    before,
    connections.readKey(shellName),
    models.server,
  )
  const pointing = { ...draftOf(models, connections.keyFile(shellName)), key: text }
  connections.writeKey(shellName, text)
  connections.set(shellName, { ...connectionOf(pointing, options, key), files: [] })
  if (before?.key && before.key.id !== key?.id) await revokeMadeKey(cli, before.key)
  await printEnvironment(cli, name, pointing, options.shell, expiry.expiresIn)
}

/** The daemon, and the models to offer. Throws where it does not answer. */
async function modelsAt(cli: Cli, choice: ModelChoice) {
  const { server, problem } = await findDaemon(cli)
  if (problem) throw problem
  return { server, models: await chooseModels(cli, choice) }
}

interface Offer {
  readonly server: string
  readonly models: readonly OfferedModel[]
}

function draftOf({ server, models }: Offer, keyFile: string): Pointing {
  return { server, key: keyStandIn, keyFile, model: models[0]!, models }
}

/** Plans the files of a client without a key. Throws where one cannot be changed. */
function draftPlans(cli: Cli, name: string, draft: Pointing, before: Connection | undefined): readonly FilePlan[] {
  const client = clientNamed(name)
  const places = placesOf(cli.io.environment)
  return planFiles(client.files?.(draft, places) ?? [], before?.files)
}

function connectionOf({ server, model }: Pointing, { persona }: ConnectOptions, key: KeyInUse) {
  return { server, model: model.id, ...(persona !== undefined && { persona }), ...(key && { key }) }
}

/** Prints the files as they would become, with a word instead of the key; makes no key and changes nothing. */
async function printFiles(cli: Cli, name: string, options: ConnectOptions, connections: Connections): Promise<void> {
  const { server, problem } = await findDaemon(cli)
  if (problem) note(cli, `aichat: ${problem.message}: ${problem.details.join('; ')}`)
  const place = connections.placeOf(name, pathsOf(clientNamed(name), placesOf(cli.io.environment)))
  const draft = draftOf({ server, models: await chooseModels(cli, options) }, connections.keyFile(place))
  const plans = draftPlans(cli, name, draft, connections.get(place))
  const files = plans.map((plan) => ({ path: plan.found.path, content: textOf({ ...plan.found, bytes: plan.bytes }) }))
  await print(cli, { client: name, server, files }, () =>
    files.map(({ path, content }) => `==> ${path} <==\n${stripControls(content)}`).join('\n'),
  )
}
