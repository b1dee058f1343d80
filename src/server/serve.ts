import { once } from 'node:events'
import { resolve } from 'node:path'
import {
  isServerId,
  readManifest,
  type ServerId,
  type SpeechService,
  serverIds,
  weightsName,
} from '../../speech/speech.ts'
import { type App, createReloader, openApp, openServiceRecord, runningServices, speechPlaces } from '../app/app.ts'
import { AppError } from '../errors.ts'
import { type Maintenance, startMaintenance } from '../personas/personas.ts'
import { Bag } from '../process/process.ts'
import { leastCodebooks, mostCodebooks, type Settings, type TlsFiles } from '../settings/settings.ts'
import { version } from '../version.ts'
import { type Schedule, scheduleBackups } from './backup-schedule.ts'
import { clientOrigins, proxiesOf } from './client-origin.ts'
import { openServiceAccounts, type ServiceIo } from './first-run.ts'
import { createServer, type NodeHandler, type ServerParts, type ServerState } from './http-server.ts'
import type { Identify } from './identity.ts'
import { createLineWriter } from './line-writer.ts'
import { type Listening, openServer, refuseTaken } from './listen.ts'
import { createLog, type Log, logFormat } from './log.ts'
import { createMetrics } from './metrics.ts'
import { requestLog } from './request-log.ts'
import { cutAnswers, lastEventsMs, tellOfDatabase } from './service-parts.ts'
import { openSupervisor } from './supervisor.ts'
import { takeOverOn } from './take-over.ts'
import { readTls } from './tls.ts'
import { workersOf } from './worker-count.ts'
import { keepNewObjectsYoung } from './young-objects.ts'

/** The flags of `serve`, with one for each server's port, such as `voxaTtsPort`. */
export interface ServeOptions {
  readonly host?: string
  readonly port?: string
  /** The variant of the speech server that has several. */
  readonly model?: string
  /** The device of the speech server that has a choice. */
  readonly device?: string
  /** Codebooks of a frame, on the server with a model that can do with fewer. */
  readonly codebooks?: string
  /** Whether missing weights are pulled before anything is served. */
  readonly pull?: true
  /** False where the web console is not served. */
  readonly console?: boolean
  /** Processes that serve the API: a number, or `auto`. */
  readonly workers?: string
  /** The files of a certificate and its key, for https. */
  readonly tlsCert?: string
  readonly tlsKey?: string
  /** Wyoming ports: one of the only speech server, or such as `voxb-tts=10200,voxa-tts=10201`. */
  readonly wyoming?: string
  readonly [flag: string]: string | boolean | undefined
}

/** Runs the named servers, by default all, until a signal; finishes the answers in flight before it returns. */
export async function serve(
  io: ServiceIo,
  settings: Settings,
  names: readonly string[],
  options: ServeOptions,
): Promise<void> {
  keepNewObjectsYoung()
  const plan = planServers(settings, names, options)
  const api = plan.find(({ name }) => name === 'api')
  const listen = { host: plan[0]!.host, port: api?.port ?? settings.listen.port }
  const tls = tlsOf(options)
  const count = workersOf(
    options.workers,
    plan.map(({ name }) => name),
  )
  const crew = count > 1 ? (await import('./workers.ts')).createWorkers(count) : undefined
  const record = openServiceRecord(settings.paths.state)
  const overrides = { listen, ...(tls && { tls }), ...(options.console === false && { console: false }) }
  const app = await openApp(settings, {
    service: true,
    record,
    crew,
    reloads: createReloader,
    overrides,
  })
  const lines = createLineWriter((text) => io.stderr.write(text))
  const log = createLog(() => app.settings.logLevel, logFormat(settings.environment, io.stderrIsTerminal), lines)
  for (const warning of settings.warnings) log.warn(warning)
  const supervisor = openSupervisor(settings.environment, log)
  app.remarkListeners.add((message, fields) => log.warn(message, fields))
  tellOfDatabase(app, log)
  const state: ServerState & Required<Pick<ServerState, 'open'>> = { phase: 'starting', open: new Bag() }
  const metrics = createMetrics(app, version(), crew)
  const origin = clientOrigins(proxiesOf(app.settings))
  const listening: Listening[] = []
  const services = new Map<string, SpeechService>()
  const wyomingPorts = wyomingOf(options.wyoming, plan)
  const wyoming: { close(): Promise<void> }[] = []
  let schedule: Schedule | undefined
  let upkeep: Maintenance | undefined
  let stopLooking: (() => void) | undefined
  try {
    const ownAt = (port: number) => ownServiceAt(settings.paths.state, port)
    await refuseTaken(plan.map((place) => ({ ...place, ownAt })))
    const parts = { app, state, metrics, origin }
    const certificate = app.settings.tls && readTls(app.settings.tls)
    if (options.pull) await pullWeights(app, log, plan, options, io.signal)
    const accounts = api && (await openServiceAccounts(app, io, log))
    // Removes the temporary packages of a killed process before the first request.
    if (api) await app.packages()
    // Ends the responses that a killed process left unfinished.
    if (api) await (await app.responses()).responses.failOrphans()
    // Loads the data of a first chat now: a shared database may be unreachable later.
    if (api && app.database) await app.chat()
    const addresses = () => listening.map(({ localUrl }, at) => ({ name: plan[at]!.name, url: localUrl }))
    for (const place of plan) {
      const { name } = place
      const service = name === 'api' ? undefined : await openService(app, log, name, options)
      if (service) services.set(name, service)
      const observe = requestLog(log, app, name)
      const handler = await handlerOf({ ...parts, observe }, service, accounts?.identify)
      const listenOptions = { ...place, tls: certificate, ownAt }
      const server =
        crew && !service
          ? await crew.open({
              ...{ app, log, handler, overrides, options: listenOptions, setupToken: accounts?.setupToken },
              watchdogMs: supervisor.watchdogMs,
            })
          : await openServer(handler, listenOptions)
      listening.push(server)
      if (name === 'api') app.ownPorts.add(server.port)
      const wyomingPort = wyomingPorts.get(name)
      if (service && wyomingPort !== undefined) {
        const { openWyoming } = await import('./wyoming.ts')
        const opened = await openWyoming(service, wyomingPort)
        wyoming.push(opened)
        log.notice(`${name} speaks Wyoming on tcp://127.0.0.1:${opened.port}`, { server: name })
      }
      app.service?.update({ servers: addresses() })
    }
    schedule = api && scheduleBackups(app, log)
    upkeep = api && startMaintenance({ maintain: async () => void (await app.backups()).removeBeforeRestores() })
    // Loading the language detector, which speech needs, blocks the event loop for 25 ms. The API alone loads it with the
    // first text that needs it, since few such services speak.
    if (services.size > 0)
      stopLooking = whenIdle(state.open, async () => (await import('../../speech/text/languages.ts')).loadDetector())
    state.phase = 'ready'
    crew?.ready()
    const status = () => statusLine(app, plan, listening, count)
    const hangUp = takeOverOn(app, log, listening, { supervisor, status })
    const isReloading = io.onHangUp(hangUp)
    app.service?.update({
      phase: 'ready',
      reloads_on_hangup: isReloading,
    })
    supervisor.ready(status())
    // Only now: a program that reads an address here may use it at once, ask for a reload, and read the service's record.
    for (const [at, server] of listening.entries()) {
      const { name } = plan[at]!
      const local = server.localUrl === server.url ? '' : ` (here: ${server.localUrl})`
      const served = services.has(name) ? name : 'the API'
      log.notice(`aichat ${version()} serves ${served} on ${server.url}${local}`, { server: name })
      lines.flush()
      const service = services.get(name)
      if (!service) await accounts?.announceSetup(server.localUrl)
      if (service && server.host === '0.0.0.0')
        log.warn('this server needs no token: any client that reaches this machine can use it', {
          server: name,
          host: server.host,
        })
      void service?.load().catch((reason: Error) => log.error('no engine', { server: name, reason: reason.message }))
    }
    if (!io.signal.aborted) await Promise.race([once(io.signal, 'abort'), ...(crew ? [crew.broken] : [])])
    log.info('stopping: answers in flight are finished first')
  } finally {
    const wasReady = state.phase === 'ready'
    state.phase = 'draining'
    const { drainMs } = app.settings
    io.onHangUp(() => {})
    stopLooking?.()
    supervisor.stopping('answers in flight are finished', drainMs + lastEventsMs + closeMs)
    if (wasReady) app.service?.update({ phase: 'draining' })
    app.deferCleanup()
    await schedule?.close()
    await upkeep?.close()
    // All servers listen until the last answer of any is complete: /ready of the API reports for the whole service.
    await Promise.all(listening.map((server) => server.finish(drainMs)))
    await cutAnswers(state.open, log)
    await Promise.all([...listening, ...wyoming].map((server) => server.close()))
    await Promise.all([...services.values()].map((service) => service.close()))
    await app.close()
    app.service?.remove()
    await supervisor.close()
    lines.flush()
  }
}

/** How long the storage and engines may take to close: milliseconds. */
const closeMs = 10_000

/** The files of the flags; undefined without them. Throws `usage` for one without the other. */
function tlsOf({ tlsCert: cert, tlsKey: key }: ServeOptions): TlsFiles | undefined {
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined || key === undefined) throw new AppError('usage', '--tls-cert and --tls-key belong together')
  return { cert: resolve(cert), key: resolve(key) }
}

/** The service of this data folder that has a port. */
function ownServiceAt(state: string, port: number): string | undefined {
  for (const { pid, servers } of runningServices(state))
    for (const { name, url } of servers)
      if (new URL(url).port === String(port))
        return `${name === 'api' ? 'aichat' : `the ${name} of an aichat`} (pid ${pid})`
  return undefined
}

/** One line for `systemctl status`. */
function statusLine(app: App, plan: readonly Planned[], listening: readonly Listening[], workers: number): string {
  const active = app.plugins.active('chat')
  const addresses = plan.map(({ name }, at) => `${name} on ${listening[at]!.url}`)
  return `serving ${addresses.join(', ')}; ${active ? `active plugin ${active.id}` : 'no plugin is active'}${workers > 1 ? `; ${workers} workers` : ''}`
}

/** Pulls missing weights of the planned servers. */
async function pullWeights(
  app: App,
  log: Log,
  plan: readonly Planned[],
  options: ServeOptions,
  signal: AbortSignal,
): Promise<void> {
  const { hub } = await app.models()
  // Beside other servers only weights that were named are brought: those of servers A and C take gigabytes.
  const servers = plan
    .map(({ name }) => name)
    .filter((name) => name !== 'voxa-tts' || plan.length === 1 || options.model)
    .filter((name) => name !== 'voxb-tts-1.6b' || plan.length === 1)
  for (const server of servers) {
    const name = weightsName(server, options.model)
    const model = hub.known.get(name)
    if (!model || hub.find(name)) continue
    log.info('pulling weights', { server, model: name, summary: model.summary, licence: model.licence })
    const { bytes, folder } = await hub.pull(name, { signal })
    log.info('pulled', { server, bytes, folder })
  }
}

interface Planned {
  readonly name: 'api' | ServerId
  readonly host: string
  readonly port: number
  readonly portFlag: string
}

/** The servers to run, and their addresses. Throws `usage` for an unknown server or a flag that fits none. */
function planServers(settings: Settings, requested: readonly string[], options: ServeOptions): readonly Planned[] {
  const unknown = requested.find((name) => name !== 'api' && !isServerId(name))
  if (unknown !== undefined)
    throw new AppError('usage', `Server "${unknown}" not found`, {
      details: [`There are: ${['api', ...serverIds].join(', ')}`],
    })
  const names = (['api', ...serverIds] as const).filter((name) => requested.length === 0 || requested.includes(name))
  refuseUnused(names, options)
  // A speech server alone binds every address, as specified; along with the API it binds the address of the API.
  const host = options.host ?? (names.includes('api') ? settings.listen.host : '0.0.0.0')
  return names.map((name) => ({
    name,
    host,
    port: portFor(settings, names, name, options),
    portFlag: name === 'api' || names.length === 1 ? '--port' : `--${name}-port`,
  }))
}

/** Refuses flags that none of the servers takes: they would have no effect. */
function refuseUnused(names: readonly Planned['name'][], options: ServeOptions): void {
  const speech = names.filter((name) => name !== 'api').map(readManifest)
  if (options.model !== undefined && !speech.some(({ variants }) => variants.length > 1))
    throw new AppError('usage', '--model is for voxa-tts')
  if (options.device !== undefined && !speech.some((manifest) => manifest.options.devices.length > 0))
    throw new AppError('usage', '--device is for voxb-tts-1.6b')
  if (options.codebooks !== undefined && !names.includes('voxb-tts-1.6b'))
    throw new AppError('usage', '--codebooks is for voxb-tts-1.6b')
  if (options.pull && speech.length === 0)
    throw new AppError('usage', '--pull is for the speech servers: the API has no weights to pull')
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

/** The Wyoming ports by server. Throws `usage` for an invalid list, and for a server that is not started. */
function wyomingOf(list: string | undefined, plan: readonly Planned[]): ReadonlyMap<string, number> {
  const speech = plan.map(({ name }) => name).filter((name) => name !== 'api')
  const pairs = (list?.split(',') ?? []).map((item) => {
    const [name, port] = item.includes('=') ? item.split('=', 2) : [speech.length === 1 ? speech[0] : undefined, item]
    if (name === undefined || !isServerId(name) || !speech.includes(name))
      throw new AppError('usage', `Invalid Wyoming port "${item}"`, {
        details: speech.map((id) => `such as --wyoming ${id}=10200`),
      })
    return [name, portOf(port!)] as const
  })
  return new Map(pairs)
}

/** The name of `--voxa-tts-port` in commander's options. */
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
    counts: app.speechCounts.of(id),
    ...(id === 'voxb-tts-1.6b' && options.codebooks !== undefined && { codebooks: codebooksOf(options.codebooks) }),
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

function codebooksOf(text: string): number {
  const count = Number(text)
  if (/^\d+$/.test(text) && count >= leastCodebooks && count <= mostCodebooks) return count
  throw new AppError(
    'usage',
    `Invalid number of codebooks "${text}": give one from ${leastCodebooks} to ${mostCodebooks}`,
  )
}

function portOf(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65535) return port
  throw new AppError('usage', `Invalid port "${text}": give a number from 0 to 65535`)
}

/** How long a service serves before it looks for a moment without a request, and between two looks: milliseconds. */
const lookMs = 1000

/**
 * Does a piece of work that blocks the event loop once, at the first look that finds no request under way: neither the
 * start nor an answer waits for it. Failures are left to the first request that needs the work. Returns a function that
 * cancels it.
 */
function whenIdle(open: Pick<Bag<unknown>, 'size'>, work: () => Promise<unknown>): () => void {
  const timer = setInterval(() => {
    if (open.size > 0) return
    clearInterval(timer)
    work().catch(() => undefined)
  }, lookMs).unref()
  return () => clearInterval(timer)
}
