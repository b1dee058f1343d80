import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { AppError } from '../../errors.ts'
import { updateKey } from '../../operations/keys.ts'
import type { Environment } from '../../settings/settings.ts'
import type { Cli } from '../terminal/cli.ts'
import { note } from '../terminal/output.ts'
import type { Client, Launch, Pointing } from './client.ts'
import { clientNamed } from './clients.ts'
import { findDaemon } from './daemon.ts'
import { makeKey, revokeMadeKey, tryKey } from './keys.ts'
import { chooseModels, type ModelChoice } from './models.ts'
import { openOverlay } from './overlay.ts'
import { openOwnDaemon } from './own-daemon.ts'
import { placesOf } from './places.ts'
import { findProgram } from './program.ts'

/** How long the key lives after this process was killed, and how often that is put off: a client may run for days. */
const lifetime = '24h'
const renewalMs = 3_600_000

/**
 * Runs a client with settings and a key for this run alone. The exit code is the client's; 128 and the signal's number
 * where a signal ended it.
 */
export async function launch(cli: Cli, name: string, words: readonly string[], options: ModelChoice): Promise<void> {
  const client = clientNamed(name)
  const { program, args } = commandOf(client, name, words, cli.io.environment)
  const closers: (() => unknown)[] = []
  try {
    const server = await daemonFor(cli, closers)
    const models = await chooseModels(cli, options)
    const key = await makeKey(cli, client, {
      name: `${name} (launched)`,
      persona: options.persona,
      expiresIn: lifetime,
    })
    closers.push(() => revokeMadeKey(cli, key))
    await tryKey(cli, server, key.secret)
    const renewal = setInterval(() => void renew(cli, key.id), renewalMs).unref()
    closers.push(() => clearInterval(renewal))
    const pointing = { server, key: key.secret, keyFile: '', model: models[0]!, models }
    const { args: before, environment } = launchOf(cli, client, pointing, closers)
    cli.exit = await run(cli, program, [...before, ...args], { ...cli.io.environment, ...environment })
  } finally {
    for (const close of closers.reverse()) await close()
  }
}

/** The program and the user's arguments. Throws `usage` and `unavailable`. */
function commandOf(client: Client, name: string, words: readonly string[], environment: Environment) {
  const isLibrary = client.programs.length === 0
  const [command, ...rest] = words
  if (isLibrary && command === undefined)
    throw new AppError('usage', 'Which command?', { details: [`aichat launch ${name} -- COMMAND …`] })
  if (!isLibrary && !client.launch)
    throw new AppError('usage', `${client.name} has no settings for one run`, {
      details: [`Use: aichat connect ${name}`],
    })
  if (isLibrary) return { program: command!, args: rest }
  const program = findProgram(client.programs, environment)
  if (program !== undefined) return { program, args: words }
  throw new AppError('unavailable', `${client.name} is not installed: ${client.programs.join(' and ')} not found`, {
    details: client.install === undefined ? [] : [`Install it: ${client.install}`],
  })
}

/** The address of the daemon; where none runs at the usual place, one is served here. */
async function daemonFor(cli: Cli, closers: (() => unknown)[]): Promise<string> {
  const { server, isNamed, problem } = await findDaemon(cli)
  if (!problem) return server
  if (isNamed) throw problem
  const own = await openOwnDaemon(cli)
  closers.push(own.close)
  return own.server
}

function launchOf(cli: Cli, client: Client, pointing: Pointing, closers: (() => unknown)[]): Launch {
  if (!client.launch) return { args: [], environment: client.environment!(pointing) }
  const places = placesOf(cli.io.environment)
  const launch = client.launch(pointing, places, '')
  if (!launch.folder) return launch
  const overlay = openOverlay()
  closers.push(overlay.remove)
  const filled = client.launch(pointing, places, overlay.folder)
  overlay.fill(filled)
  return filled
}

/** Puts the end of the key off; a failure leaves it some hours, and the next try follows. */
async function renew(cli: Cli, id: string): Promise<void> {
  await cli.ask(updateKey, { id, expires_in: lifetime }).catch(() => {})
}

/** Runs a program on the streams of this process. Resolves with its exit code. */
function run(cli: Cli, program: string, args: readonly string[], environment: Environment): Promise<number> {
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined))
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...args], { stdio: 'inherit', env: present })
    cli.io.passSignals((signal) => {
      // Ctrl-C at a terminal reaches the client by itself.
      if (signal !== 'SIGINT' || !cli.io.stdinIsTerminal) child.kill(signal)
    })
    child.on('error', (cause) => {
      reject(new AppError('unavailable', `${program} could not be started`, { cause }))
    })
    child.on('exit', (code, signal) => {
      if (signal !== null) note(cli, `aichat: ${program} was ended by ${signal}`)
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]))
    })
  })
}
