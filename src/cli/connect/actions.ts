import { AppError } from '../../errors.ts'
import { suggestion } from '../../formats/nearest-name.ts'
import type { Cli } from '../terminal/cli.ts'
import { stripControls } from '../terminal/io.ts'
import { note, print } from '../terminal/output.ts'
import { readSecrets } from '../terminal/prompts.ts'
import { type Client, clients, type OfferedModel, type Pointing } from './clients.ts'
import { textOf } from './config/file.ts'
import { findDaemon } from './daemon.ts'
import { type FilePlan, planFiles, writePlan } from './files.ts'
import { makeKey, revokeMadeKey, tryKey } from './keys.ts'
import { listClients } from './list.ts'
import { chooseModels, type ModelChoice } from './models.ts'
import { placesOf } from './places.ts'
import { type Connection, type Connections, openConnections } from './record.ts'
import { exportLines, type Shell, shellOf } from './shell.ts'
import { undo } from './undo.ts'

export interface ConnectOptions extends ModelChoice {
  readonly key?: string
  readonly print?: true
  readonly shell?: Shell
  readonly undo?: true
}

/** Stands for the key in what is shown and in plans. */
const keyStandIn = 'KEY'

/** Points a client at the daemon, shows what would do so, or undoes it; without a client lists them. */
export async function connect(cli: Cli, name: string | undefined, options: ConnectOptions): Promise<void> {
  if (name === undefined) {
    const [unused] = Object.keys(options)
    if (unused !== undefined) throw new AppError('usage', `Which client? --${unused} needs one of: ${names()}`)
    return listClients(cli)
  }
  const client = clientNamed(name)
  if (options.undo) return undo(cli, name)
  const connections = openConnections((await cli.settings()).paths)
  if (options.print && !client.environment) return printFiles(cli, name, options, connections)
  const { pointing, key } = await point(cli, name, options, connections)
  if (options.print || !client.files) {
    connections.writeKey(name, pointing.key)
    connections.set(name, { ...connectionOf(pointing, options, key), files: connections.get(name)?.files ?? [] })
    return printEnvironment(cli, name, pointing, options)
  }
  const plans = await revokeOnFailure(cli, key, connections.get(name), () =>
    planFiles(client.files!(pointing, placesOf(cli.io.environment)), connections.get(name)?.files),
  )
  const isDone = plans.every((plan) => plan.isDone) && connections.readKey(name) === pointing.key
  await revokeOnFailure(cli, key, connections.get(name), () => {
    connections.writeKey(name, pointing.key)
    connections.set(name, { ...connectionOf(pointing, options, key), files: plans.map(writePlan) })
  })
  await report(cli, name, pointing, plans, connections, isDone)
}

/** The client of a name. Throws `usage`. */
export function clientNamed(name: string): Client {
  if (Object.hasOwn(clients, name)) return clients[name]!
  throw new AppError('usage', `Client "${name}" not found${suggestion(name, Object.keys(clients))}`, {
    details: [`There are: ${names()}`],
  })
}

function names(): string {
  return Object.keys(clients).join(', ')
}

/** The key of a connection: made here, or given by the user. */
type KeyInUse = { readonly id: string; readonly asked: string | null } | undefined

/** The values to point a client with, once all is known to work: the daemon, the files, the model and the key. */
async function point(cli: Cli, name: string, options: ConnectOptions, connections: Connections) {
  const client = clientNamed(name)
  const { server, problem } = await findDaemon(cli)
  if (problem) throw problem
  const models = await chooseModels(cli, options)
  const draft = draftOf(server, models, connections.keyFile(name))
  // A file that cannot be changed is found before a key is made.
  if (!options.print) draftPlans(cli, name, draft, connections)
  const before = connections.get(name)
  const [key, text] = await keyOf(cli, client, name, options, connections, server)
  if (before?.key && before.key.id !== key?.id) await revokeMadeKey(cli, before.key)
  return { pointing: { ...draft, key: text }, key }
}

function draftOf(server: string, models: readonly OfferedModel[], keyFile: string): Pointing {
  return { server, key: keyStandIn, keyFile, model: models[0]!, models }
}

/** Plans the files of a client without a key. Throws where one cannot be changed. */
function draftPlans(cli: Cli, name: string, draft: Pointing, connections: Connections): readonly FilePlan[] {
  const client = clientNamed(name)
  const places = placesOf(cli.io.environment)
  const conflict = client.conflict?.(places)
  if (conflict !== undefined) throw new AppError('invalid', conflict)
  return planFiles(client.files?.(draft, places) ?? [], connections.get(name)?.files)
}

/** The given key, else the one of an earlier connection that fits, else a new one; each is tried on the daemon. */
async function keyOf(
  cli: Cli,
  client: Client,
  name: string,
  { key: given, persona }: ConnectOptions,
  connections: Connections,
  server: string,
): Promise<readonly [KeyInUse, string]> {
  if (given !== undefined) {
    const text = given === '-' ? (await readSecrets(cli, 1))[0]!.trim() : given
    await tryKey(cli, server, text)
    return [undefined, text]
  }
  const before = connections.get(name)
  const kept = connections.readKey(name)
  if (before?.key && kept !== undefined && before.server === server && before.persona === persona) {
    const works = await tryKey(cli, server, kept).then(
      () => true,
      (reason: unknown) => {
        if (reason instanceof AppError && reason.status === 401) return false
        throw reason
      },
    )
    if (works) return [before.key, kept]
  }
  const { secret, ...made } = await makeKey(cli, client, { name, persona })
  await revokeOnFailure(cli, made, before, () => tryKey(cli, server, secret))
  return [{ id: made.id, asked: made.asked }, secret]
}

/** Does something, and revokes a new key where that fails: nothing is left of a connection that was not made. */
async function revokeOnFailure<T>(
  cli: Cli,
  key: KeyInUse,
  before: Connection | undefined,
  work: () => T | Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (reason) {
    if (key && key.id !== before?.key?.id) await revokeMadeKey(cli, key)
    throw reason
  }
}

function connectionOf({ server, model }: Pointing, { persona }: ConnectOptions, key: KeyInUse) {
  return { server, model: model.id, ...(persona !== undefined && { persona }), ...(key && { key }) }
}

/** Prints the lines for a shell that point a client here. */
async function printEnvironment(cli: Cli, name: string, pointing: Pointing, { shell }: ConnectOptions): Promise<void> {
  const environment = clientNamed(name).environment!(pointing)
  const { server, model } = pointing
  await print(cli, { client: name, server, model: model.id, environment: present(environment) }, () =>
    exportLines(environment, shell ?? shellOf(cli.io.environment)),
  )
  note(cli, `aichat: the model is ${model.id}; these lines hold a key that works until aichat connect ${name} --undo`)
}

function present(environment: Readonly<Record<string, string | undefined>>): Record<string, string | null> {
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, value ?? null]))
}

/** Prints the files as they would become, with a word in place of the key; makes no key and changes nothing. */
async function printFiles(cli: Cli, name: string, options: ConnectOptions, connections: Connections): Promise<void> {
  const { server, problem } = await findDaemon(cli)
  if (problem) note(cli, `aichat: ${problem.message}: ${problem.details.join('; ')}`)
  const plans = draftPlans(
    cli,
    name,
    draftOf(server, await chooseModels(cli, options), connections.keyFile(name)),
    connections,
  )
  const files = plans.map((plan) => ({ path: plan.found.path, content: textOf({ ...plan.found, bytes: plan.bytes }) }))
  await print(cli, { client: name, server, files }, () =>
    files.map(({ path, content }) => `==> ${path} <==\n${stripControls(content)}`).join('\n'),
  )
}

async function report(
  cli: Cli,
  name: string,
  pointing: Pointing,
  plans: readonly FilePlan[],
  connections: Connections,
  isDone: boolean,
): Promise<void> {
  const client = clientNamed(name)
  const { server, model, models } = pointing
  const { files = [], key } = connections.get(name) ?? {}
  const value = {
    client: name,
    server,
    model: model.id,
    models: models.map(({ id }) => id),
    key_id: key?.id ?? null,
    key_file: pointing.keyFile,
    changed: !isDone,
    files: files.map(({ path, backup }) => ({ path, backup })),
  }
  await print(cli, value, () => files.map(({ path }) => path).join('\n'))
  note(cli, `aichat: ${client.name} asks ${server} for ${model.id}${isDone ? ' already' : ''}`)
  for (const { backup } of files) if (backup !== null && !isDone) note(cli, `aichat: the file as it was is ${backup}`)
  for (const { found, base, mode } of plans)
    if (base && base.mode !== mode)
      note(cli, `aichat: ${found.path} holds the key now, so that other users may not read it any more`)
  if (client.advice) note(cli, `aichat: ${client.advice(pointing)}`)
  if (!isDone) note(cli, `aichat: to undo it: aichat connect ${name} --undo`)
}
