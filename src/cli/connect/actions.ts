import { AppError } from '../../errors.ts'
import type { Cli } from '../terminal/cli.ts'
import { stripControls } from '../terminal/io.ts'
import { note, print } from '../terminal/output.ts'
import type { Client, ClientFile, OfferedModel, Pointing } from './client.ts'
import { clientNamed, clientNames } from './clients.ts'
import { findDaemon } from './daemon.ts'
import { planFile, writePlan } from './files.ts'
import { type KeyInUse, keyOf, revokeMadeKey, revokeOnFailure } from './keys.ts'
import { listClients } from './list.ts'
import { chooseModels, type ModelChoice } from './models.ts'
import { placesOf } from './places.ts'
import { type Connection, type Connections, openConnections, shellNameOf } from './record.ts'
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
  if (options.print && !client.environment) return printFile(cli, name, options, connections)
  if (options.print || !client.file) return connectShell(cli, name, options, connections)
  await connectFile(cli, name, options, connections)
}

/** Throws `usage` for options that would have no effect. */
function refuseUnused(client: Client, { undo, shell, print, ...others }: ConnectOptions): void {
  const [unused] = [...Object.keys(others), ...(print ? ['print'] : []), ...(shell ? ['shell'] : [])]
  if (undo && unused !== undefined) throw new AppError('usage', `--${unused} has no effect with --undo`)
  if (shell && !client.environment)
    throw new AppError('usage', `${client.name} reads its settings from a file: leave --shell out`)
  if (shell && client.file && !print) throw new AppError('usage', 'Add --print to have lines for a shell')
}

/** Changes the file of a client, and revokes the key of an earlier connection that it no longer uses. */
async function connectFile(cli: Cli, name: string, options: ConnectOptions, connections: Connections): Promise<void> {
  const draft = draftOf(await modelsAt(cli, options), connections.keyFile(name))
  const known = connections.get(name)
  // A file that cannot be changed is found before a key is made.
  planHere(cli, name, draft, known)
  const [key, text] = await keyOf(cli, name, options, known, connections.readKey(name), draft.server)
  const pointing = { ...draft, key: text }
  let connection: Connection | undefined
  let replaced: Connection | undefined
  let isDone = false
  await revokeOnFailure(cli, key, known, () =>
    connections.change(name, (before) => {
      const plan = planHere(cli, name, pointing, before)
      writePlan(plan)
      connections.writeKey(name, text)
      replaced = before
      isDone = plan.isDone && before?.key?.id === key?.id
      connection = { ...connectionOf(pointing, options, key), files: [plan.written] }
      return connection
    }),
  )
  if (replaced?.key && replaced.key.id !== key?.id) await revokeMadeKey(cli, replaced.key)
  await report(cli, name, pointing, connection!, isDone)
}

/** Prints the lines for a shell that point a client here, with a key of their own. */
async function connectShell(cli: Cli, name: string, options: ConnectOptions, connections: Connections): Promise<void> {
  const id = shellNameOf(name)
  const draft = draftOf(await modelsAt(cli, options), connections.keyFile(id))
  const before = connections.get(id)
  const [key, text] = await keyOf(cli, name, options, before, connections.readKey(id), draft.server)
  const pointing = { ...draft, key: text }
  connections.writeKey(id, text)
  connections.change(id, () => ({ ...connectionOf(pointing, options, key), files: [] }))
  if (before?.key && before.key.id !== key?.id) await revokeMadeKey(cli, before.key)
  await printEnvironment(cli, name, pointing, options.shell)
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

/** Plans the change of a client's file. Throws where it cannot be changed, and `usage` where another file is connected. */
function planHere(cli: Cli, name: string, pointing: Pointing, before: Connection | undefined) {
  const client = clientNamed(name)
  const file: ClientFile = client.file!(pointing, placesOf(cli.io.environment))
  const [written] = before?.files ?? []
  const plan = planFile(file, written)
  if (written && written.path !== plan.found.path)
    throw new AppError('usage', `${client.name} is connected by ${written.path}, and would now use ${file.path}`, {
      details: [`Undo that first: aichat connect ${name} --undo`],
    })
  return plan
}

function connectionOf({ server, model }: Pointing, { persona }: ConnectOptions, key: KeyInUse) {
  return { server, model: model.id, ...(persona !== undefined && { persona }), ...(key && { key }) }
}

/** Prints the file as it would become, with a word instead of the key; makes no key and changes nothing. */
async function printFile(cli: Cli, name: string, options: ConnectOptions, connections: Connections): Promise<void> {
  const { server, problem } = await findDaemon(cli)
  if (problem) note(cli, `aichat: ${problem.message}: ${problem.details.join('; ')}`)
  const draft = draftOf({ server, models: await chooseModels(cli, options) }, connections.keyFile(name))
  const { found, text } = planHere(cli, name, draft, connections.get(name))
  const files = [{ path: found.path, content: text }]
  await print(cli, { client: name, server, files }, () => `==> ${found.path} <==\n${stripControls(text)}`)
}
