import type { Socket } from 'node:net'
import { type App, createReloader, openApp } from '../app/app.ts'
import { Bag } from '../process/process.ts'
import { type AskedDesk, type RateDesk, refusalOf } from '../usage/usage.ts'
import { version } from '../version.ts'
import { clientOrigins, proxiesOf } from './client-origin.ts'
import type { ServiceIo } from './first-run.ts'
import { identifyBy } from './guards.ts'
import { createServer, type NodeHandler, type ServerState } from './http-server.ts'
import { createLineWriter } from './line-writer.ts'
import { createDealtServer } from './listen.ts'
import { createLog, logFormat } from './log.ts'
import { createMetrics, type Snapshot } from './metrics.ts'
import type { RequestContext } from './request-context.ts'
import { requestLog } from './request-log.ts'
import { cutAnswers, tellOfDatabase } from './service-parts.ts'
import { prepareTakeOver } from './take-over.ts'
import { readTls } from './tls.ts'
import { type Channel, openChannel } from './worker-channel.ts'
import { isOfOwner, listenForOthers, madeIn, passOn, pathOf } from './worker-forwarding.ts'
import type { WorkerOrder } from './worker-process.ts'
import { keepNewObjectsYoung } from './young-objects.ts'

interface Serving {
  /** The port at which it answers the other processes of its service. */
  readonly port: number
  readonly app: App
  readonly state: ServerState
  take(socket: Socket): void
  snapshot(): Promise<Snapshot>
  /** Resolves when the answers under way are complete, or were cut. */
  finish(graceMs: number): Promise<void>
  close(): Promise<void>
}

/**
 * Serves the API on the connections that the owner of the service hands over, until the owner closes it or has gone.
 * Throws the reason why it cannot serve, and tells it to the owner too.
 */
export async function runWorker(io: ServiceIo, owner: NodeJS.Process): Promise<void> {
  keepNewObjectsYoung()
  let serving: Serving | undefined
  let isOver = false
  let end = () => {}
  let fail: (reason: unknown) => void = () => {}
  const over = new Promise<void>((resolve, reject) => {
    end = () => {
      isOver = true
      resolve()
    }
    fail = reject
  })
  const channel = openChannel(owner, {
    async begin(order: WorkerOrder) {
      try {
        serving = await openWorker(io, order, channel)
        return serving.port
      } catch (reason) {
        // After the answer is on its way.
        setImmediate(fail, reason)
        throw reason
      }
    },
    connection(id: number, socket: Socket | undefined) {
      channel.tell('taken', id)
      if (socket) serving!.take(socket)
    },
    phase(phase: ServerState['phase']) {
      if (serving && serving.state.phase !== 'draining') serving.state.phase = phase
    },
    reload: () => void serving!.app.reloader!.reload(),
    metrics: () => serving!.snapshot(),
    use() {
      const { user, system } = process.cpuUsage()
      return { memory: process.memoryUsage.rss(), cpu: (user + system) / 1e6 }
    },
    health: () => healthOf(serving!.app),
    makes: (id: string) => makes(serving!.app, id),
    drain,
    leave: () => void serving?.finish(serving.app.settings.drainMs).then(end, end),
    close: () => end(),
  })
  owner.once('disconnect', () => {
    if (!serving) return end()
    // An owner that is ended while it waits for the last answers was ended by force: nothing waits for them any more.
    if (serving.state.phase === 'draining' && !isOver) return void process.kill(process.pid, 'SIGKILL')
    void drain(serving.app.settings.drainMs).then(end, end)
  })
  const leaving = () => channel.tell('leaving')
  if (io.signal.aborted) leaving()
  else io.signal.addEventListener('abort', leaving)
  try {
    await over
    if (serving && owner.connected) channel.tell('counted', await serving.snapshot())
  } finally {
    await serving?.close()
    if (owner.connected) owner.disconnect()
  }

  async function drain(graceMs: number): Promise<void> {
    if (!serving) return
    serving.state.phase = 'draining'
    serving.app.deferCleanup()
    await serving.finish(graceMs)
  }
}

async function openWorker(io: ServiceIo, order: WorkerOrder, channel: Channel): Promise<Serving> {
  const app = await openApp(order.settings, {
    service: true,
    worker: { desk: deskAt(channel) },
    reloads: createReloader,
    overrides: order.overrides,
  })
  try {
    return await serve(io, app, order, channel)
  } catch (reason) {
    await app.close()
    throw reason
  }
}

async function serve(io: ServiceIo, app: App, order: WorkerOrder, channel: Channel): Promise<Serving> {
  const { worker, secret, ownerPort, setupToken, aliveEveryMs } = order
  const { environment, tls } = app.settings
  const lines = createLineWriter((text) => io.stderr.write(text), mostTogether)
  const log = createLog(() => app.settings.logLevel, logFormat(environment, io.stderrIsTerminal), lines, { worker })
  app.remarkListeners.add((message, fields) => log.warn(message, fields))
  app.ownPorts.add(order.port)
  tellOfDatabase(app, log)
  const open = new Bag<RequestContext>()
  const state: ServerState = { phase: order.phase, open }
  const metrics = createMetrics(app, version())
  const [accounts, keys] = await Promise.all([app.accounts(), app.apiKeys(), app.chat()])
  const handler = createServer({
    ...{ app, state, metrics, version: version() },
    origin: clientOrigins(proxiesOf(app.settings)),
    identify: identifyBy(accounts, keys, app.settings, { setupToken, database: app.database }),
    observe: requestLog(log, app, 'api'),
  })
  const others = await listenForOthers(handler, secret)
  const server = createDealtServer(byPlace(app, handler, { channel, secret, ownerPort }), tls && readTls(tls))
  prepareTakeOver(app, [server])
  app.reloader!.listeners.add((outcome) => {
    if (outcome instanceof Error) log.error(outcome.message, { details: outcome.details.join('; ') || undefined })
  })
  const pulse = aliveEveryMs && setInterval(() => channel.tell('alive'), aliveEveryMs).unref()
  let closed = 0
  const tellClosed = () => {
    channel.tell('closed', closed)
    closed = 0
  }
  return {
    ...{ app, state, port: others.at, snapshot: metrics.snapshot },
    take(socket) {
      socket.once('close', () => {
        if (closed++ === 0) setImmediate(tellClosed)
      })
      server.take(socket)
    },
    async finish(graceMs) {
      await server.finish(graceMs)
      await cutAnswers(open, log)
    },
    async close() {
      clearInterval(pulse as NodeJS.Timeout | undefined)
      await server.close()
      others.closeAllConnections()
      others.close()
      await app.close()
      lines.flush()
    },
  }
}

/** Bytes that a pipe takes as one piece (PIPE_BUF of Linux): lines of several processes stay whole. */
const mostTogether = 4096

/** Answers a request here, or has the process answer it that knows: the owner, or the one that makes a response or a call. */
function byPlace(
  app: App,
  handler: NodeHandler,
  { channel, secret, ownerPort }: { readonly channel: Channel; readonly secret: string; readonly ownerPort: number },
): NodeHandler {
  return (request, response) => {
    const path = pathOf(request)
    if (isOfOwner(path)) return passOn(request, response, ownerPort, secret)
    const id = madeIn(path)
    if (id === undefined) return handler(request, response)
    return makerOf(id).then((port) => {
      if (response.destroyed) return
      if (port === undefined) handler(request, response)
      else passOn(request, response, port, secret)
    })
  }

  /** The port of the process that makes a response or a call now; undefined for this one, and for none. */
  async function makerOf(id: string): Promise<number | undefined> {
    try {
      if (await makes(app, id)) return undefined
      return await channel.ask<number | undefined>('maker', id)
    } catch {
      // Without an answer, the stored response is used.
      return undefined
    }
  }
}

/** Whether this process makes a response in the background, or asks about a call of a tool. */
async function makes(app: App, id: string): Promise<boolean> {
  return (await app.toolServers()).questions.has(id) || (await app.responses()).background.runs(id)
}

/** How the plugins do that were asked here. */
function healthOf({ plugins, health }: App) {
  const known = plugins.list().map(({ id }) => [id, health.of(id)] as const)
  return Object.fromEntries(known.filter(([, { last_used_at: at, circuit }]) => at !== null || circuit !== 'closed'))
}

/** The owner's desk. */
function deskAt(channel: Channel): RateDesk {
  return {
    async take(subjects, tokens) {
      const answer = await channel.ask<Awaited<ReturnType<AskedDesk['take']>>>('rates.take', { subjects, tokens })
      if ('refusal' in answer) throw refusalOf(answer.refusal)
      return { ticket: answer.ticket, headers: (names) => answer.headers[names] }
    },
    end: (ticket, tokens) => channel.tell('rates.end', { ticket, tokens }),
    undo: (ticket, tokens) => channel.tell('rates.undo', { ticket, tokens }),
  }
}
