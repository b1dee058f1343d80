import { once } from 'node:events'
import { isServerId, readManifest, type ServerId, serverIds } from '../../speech/servers/manifest.ts'
import type { SpeechService } from '../../speech/service.ts'
import { type App, openApp, speechPlaces } from '../app/app.ts'
import { AppError } from '../errors.ts'
import type { Settings } from '../settings/settings.ts'
import { version } from '../version.ts'
import { createServer, type NodeHandler, type ServerParts, type ServerState } from './http-server.ts'
import { openIdentity, type ServiceIo } from './identity.ts'
import { type Listening, openServer } from './listen.ts'
import { createLog, type Log, logFormat } from './log.ts'
import type { Identify } from './routes.ts'

/** The flags of `serve`; those for one server's port are named after it, such as `voxaTtsPort`. */
export interface ServeOptions {
  readonly host?: string
  readonly port?: string
  /** The variant of the speech server that has several. */
  readonly model?: string
  /** What the speech server with a choice computes on. */
  readonly device?: string
  /** Whether missing weights are pulled before anything is served. */
  readonly pull?: true
  readonly [flag: string]: string | true | undefined
}

/** How long answers in flight may take after the service was asked to stop: milliseconds. */
const graceMs = 30_000

/** Runs the named servers, all of them where none is named, until a signal; ends cleanly with what is in flight finished. */
export async function serve(
  around: ServiceIo,
  settings: Settings,
  names: readonly string[],
  options: ServeOptions,
): Promise<void> {
  const plan = planServers(settings, names, options)
  const api = plan.find(({ name }) => name === 'api')
  const listen = { host: plan[0]!.host, port: api?.port ?? settings.listen.port }
  const app = openApp({ ...settings, listen }, { service: true })
  const log = createLog(settings.logLevel, logFormat(settings.environment, around.stderrIsTerminal), (line) =>
    around.stderr.write(line),
  )
  const state: ServerState = { phase: 'starting' }
  const parts: Omit<ServerParts, 'version' | 'identify'> = { app, state, observe: observer(log) }
  const listening: Listening[] = []
  const services: SpeechService[] = []
  try {
    if (options.pull) await pullWeights(app, log, plan, around.signal)
    const identity = api && (await openIdentity(app, around))
    // What a killed process left of packages is removed before anything new comes.
    if (api) await app.packages()
    // To load it takes a third of a second in one go, in which nobody would be served: it is loaded before anybody is.
    await (await import('../../speech/text/languages.ts')).loadDetector()
    for (const place of plan) {
      const { name, host } = place
      const service = name === 'api' ? undefined : await openService(app, log, name, options)
      if (service) services.push(service)
      const server = await openServer(await handlerOf(parts, service, identity?.identify), place)
      listening.push(server)
      if (name === 'api') app.ownPorts.add(server.port)
      const local = server.localUrl === server.url ? '' : ` (here: ${server.localUrl})`
      around.stderr.write(`aichat ${version()} serves ${service ? name : 'the API'} on ${server.url}${local}\n`)
      if (!service) identity?.greet(server.localUrl)
      if (service && host === '0.0.0.0')
        log.warn('everybody who reaches this machine can use it without a token', { server: name, host })
      void service?.load().catch((reason: Error) => log.error('no engine', { server: name, reason: reason.message }))
    }
    state.phase = 'ready'
    if (!around.signal.aborted) await once(around.signal, 'abort')
    log.info('stopping: answers in flight are finished first')
  } finally {
    state.phase = 'draining'
    app.leaveRest()
    // All of them listen until the last answer of any is out: the API's /ready speaks for the whole service.
    await Promise.all(listening.map((server) => server.finish(graceMs)))
    await Promise.all(listening.map((server) => server.close()))
    await Promise.all(services.map((service) => service.close()))
    await app.close()
  }
}

/** Brings the weights of the planned servers that can be pulled; one whose weights are there is left as it is. */
async function pullWeights(app: App, log: Log, plan: readonly Planned[], signal: AbortSignal): Promise<void> {
  const { hub } = await app.models()
  for (const { name } of plan.filter(({ name }) => hub.known.has(name) && !hub.find(name))) {
    log.info('pulling its weights before it serves', { server: name })
    const { bytes, folder } = await hub.pull(name, { signal })
    log.info('pulled', { server: name, bytes, folder })
  }
}

interface Planned {
  readonly name: 'api' | ServerId
  readonly host: string
  readonly port: number
  readonly portFlag: string
}

/** Which servers, where. Throws `usage` for a name or flag that fits none of them. */
function planServers(settings: Settings, asked: readonly string[], options: ServeOptions): readonly Planned[] {
  const unknown = asked.find((name) => name !== 'api' && !isServerId(name))
  if (unknown !== undefined)
    throw new AppError('usage', `There is no server "${unknown}"`, {
      details: [`There are: ${['api', ...serverIds].join(', ')}`],
    })
  const names = (['api', ...serverIds] as const).filter((name) => asked.length === 0 || asked.includes(name))
  refuseIdle(names, options)
  // A speech server on its own binds every address, as specified; beside the API it goes where the API goes.
  const host = options.host ?? (names.includes('api') ? settings.listen.host : '0.0.0.0')
  return names.map((name) => ({
    name,
    host,
    port: portFor(settings, names, name, options),
    portFlag: name === 'api' || names.length === 1 ? '--port' : `--${name}-port`,
  }))
}

/** A flag that none of the servers takes would be silently without effect. */
function refuseIdle(names: readonly Planned['name'][], options: ServeOptions): void {
  const speech = names.filter((name) => name !== 'api').map(readManifest)
  if (options.model !== undefined && !speech.some(({ variants }) => variants.length > 1))
    throw new AppError('usage', '--model is for voxa-tts')
  if (options.device !== undefined && !speech.some((manifest) => manifest.options.devices.length > 0))
    throw new AppError('usage', '--device is for voxb-tts-1.6b')
  if (options.pull && !names.includes('voxb-tts'))
    throw new AppError('usage', '--pull is for voxb-tts: the other servers have no weights to pull')
  if (options.port !== undefined && names.length > 1 && !names.includes('api'))
    throw new AppError('usage', 'With several servers --port is the API’s', {
      details: names.map((name) => `say --${name}-port`),
    })
  for (const id of serverIds)
    if (options[portFlag(id)] !== undefined && !names.includes(id))
      throw new AppError('usage', `--${id}-port is for ${id}, which is not started`)
}

function portFor(
  settings: Settings,
  names: readonly Planned['name'][],
  name: Planned['name'],
  options: ServeOptions,
): number {
  const own = name === 'api' ? undefined : options[portFlag(name)]
  const shared = name === 'api' || names.length === 1 ? options.port : undefined
  const text = own ?? shared
  if (typeof text === 'string') return portOf(text)
  return name === 'api' ? settings.listen.port : readManifest(name).port
}

/** `--voxa-tts-port` as commander calls it. */
function portFlag(id: ServerId): string {
  return `${id}-port`.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

async function openService(app: App, log: Log, id: ServerId, options: ServeOptions): Promise<SpeechService> {
  const { openSpeechService } = await import('../../speech/service.ts')
  const manifest = readManifest(id)
  return openSpeechService({
    ...speechPlaces(app.settings),
    server: id,
    variant: manifest.variants.length > 1 ? options.model : undefined,
    device: manifest.options.devices.length > 0 ? options.device : undefined,
    onEvent: (message, fields) => log.warn(message, fields),
  })
}

async function handlerOf(
  parts: Omit<ServerParts, 'version' | 'identify'>,
  service: SpeechService | undefined,
  identify: Identify | undefined,
): Promise<NodeHandler> {
  if (!service) return createServer({ ...parts, version: version(), identify: identify! })
  const { createSpeechServer } = await import('./speech.ts')
  return createSpeechServer(parts, service)
}

function observer(log: Log): ServerParts['observe'] {
  return ({ request, id }, route, status) =>
    log[route === '/health' || status < 400 ? 'debug' : 'info']('request', {
      request_id: id,
      method: request.method,
      route,
      status,
    })
}

function portOf(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65535) return port
  throw new AppError('usage', `"${text}" is no port: give a number from 0 to 65535`)
}
