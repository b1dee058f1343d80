import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { App, Crew, WorkerState } from '../app/app.ts'
import type { PluginHealth } from '../chat/chat.ts'
import { AppError, toAppError } from '../errors.ts'
import type { Settings } from '../settings/settings.ts'
import type { AskedDesk } from '../usage/usage.ts'
import type { NodeHandler } from './http-server.ts'
import { type Listening, type ListenOptions, openDealtServer } from './listen.ts'
import type { Log } from './log.ts'
import { type Snapshot, sumOf } from './metrics.ts'
import { type Channel, ChannelClosed, openChannel } from './worker-channel.ts'
import { createDealer, type Taker } from './worker-dealer.ts'
import { listenForOthers, newSecret } from './worker-forwarding.ts'
import { countsOf, workerMetrics } from './worker-metrics.ts'
import { startWorkerProcess, type WorkerOrder } from './worker-process.ts'

interface OpenWorkers {
  readonly app: App
  readonly log: Log
  readonly options: ListenOptions
  /** Settings that flags of the command line give, which no file changes. */
  readonly overrides: Partial<Settings>
  /** Answers requests that workers forward. */
  readonly handler: NodeHandler
  readonly setupToken: string | undefined
  /** A worker with an event loop that stands still for so long is ended: milliseconds; undefined for never. */
  readonly watchdogMs: number | undefined
}

interface Slot extends Taker {
  readonly worker: number
  process: ChildProcess | undefined
  phase: WorkerState['phase']
  startedAt: number
  restarts: number
  /** Starts in a row that ended soon. */
  failures: number
  /** The port at which it answers the other processes. */
  port: number | undefined
  desk: AskedDesk | undefined
  /** Its counts as they were reported last. */
  counts: Snapshot
  seenAt: number
}

/** A worker's report about itself, for status pages. */
interface Use {
  readonly memory: number
  readonly cpu: number
}

/** How long a worker may take for an answer about itself: milliseconds. A busy one is shown as it was. */
const answerMs = 2_000

/** How long a reload may take: milliseconds, as `aichat service reload` waits. */
const reloadMs = 10_000

/** A worker that lived so long did not end at its start: milliseconds. */
const settledMs = 10_000

/** The first and the longest wait before a worker is started again: milliseconds. */
const firstWait = 100
const longestWait = 30_000

/** Starts in a row that may fail before a service gives up. */
const mostFailures = 5

/** How long a worker may take to close once all answers are complete: milliseconds. */
const closeMs = 10_000

const noChannel: Channel = { tell() {}, ask: async () => Promise.reject(new AppError('unavailable', 'It starts')) }

/** The workers of a service in `count` places: processes that serve the API on one port, which this process listens on and owns. */
export function createWorkers(count: number) {
  const slots = Array.from(
    { length: count },
    (_, at): Slot => ({
      ...{ worker: at + 1, process: undefined, channel: noChannel, phase: 'starting', isTaking: false, connections: 0 },
      ...{ startedAt: Date.now(), restarts: 0, failures: 0, port: undefined, desk: undefined, counts: [], seenAt: 0 },
    }),
  )
  const dealer = createDealer(() => slots)
  const secret = newSecret()
  /** The counts of the processes that have ended. */
  let ended: Promise<Snapshot> = Promise.resolve([])
  let phase: 'starting' | 'ready' = 'starting'
  let isStopping = false
  let reloading: Promise<unknown> = Promise.resolve()
  let giveUp: (reason: AppError) => void = () => {}
  const broken = new Promise<never>((_, reject) => {
    giveUp = reject
  })
  broken.catch(() => {})

  const crew: Crew = {
    workers: () =>
      Promise.all(
        slots.map(async (slot): Promise<WorkerState> => {
          const { memory, cpu } = await ofWorker<Use>(slot, 'use', { memory: 0, cpu: 0 })
          return {
            worker: slot.worker,
            pid: slot.process?.pid ?? null,
            phase: slot.phase,
            started_at: slot.startedAt,
            restarts: slot.restarts,
            connections: slot.connections,
            memory_bytes: memory,
            cpu_seconds: cpu,
          }
        }),
      ),
    async health(own) {
      const all = await Promise.all(slots.map((slot) => ofWorker<Record<string, PluginHealth>>(slot, 'health', {})))
      return (plugin) => all.flatMap((each) => each[plugin] ?? []).reduce(together, own(plugin))
    },
    async reloaded() {
      await reloading
    },
  }
  return {
    ...crew,
    sources: workerMetrics(crew),
    /** Rejects with `unavailable` when no worker is left, and none can be started. */
    broken,
    async snapshots() {
      const now = await Promise.all(
        slots.map(async (slot) => {
          const snapshot = await ofWorker<Snapshot | undefined>(slot, 'metrics', undefined)
          if (snapshot) slot.counts = countsOf(snapshot)
          return snapshot ?? slot.counts
        }),
      )
      return [...now, await ended]
    },
    /** Tells the workers that the whole service is ready. */
    ready() {
      phase = 'ready'
      for (const { channel } of slots) channel.tell('phase', phase)
    },
    /**
     * Listens, and starts the workers; resolves when all of them serve. Throws as `openServer`, the failure of a worker
     * that refuses to start, and `unavailable` where one ends at its start again and again.
     */
    async open(parts: OpenWorkers): Promise<Listening> {
      const { app, log, watchdogMs } = parts
      const listening = await openDealtServer(dealer.deal, parts.options)
      app.ownPorts.add(listening.port)
      const others = await listenForOthers(parts.handler, secret)
      app.reloader?.listeners.add((outcome) => {
        if (outcome instanceof AppError) return
        reloading = Promise.all(
          slots.map(({ channel, phase }) =>
            phase === 'ready' ? channel.ask('reload', undefined, reloadMs).catch(() => undefined) : undefined,
          ),
        )
      })
      const limits = await (await app.usage()).limits()
      const order = (slot: Slot): WorkerOrder => ({
        worker: slot.worker,
        settings: { ...app.settings },
        overrides: parts.overrides,
        phase,
        port: listening.port,
        setupToken: parts.setupToken,
        secret,
        ownerPort: others.at,
        aliveEveryMs: watchdogMs && watchdogMs / 2,
      })
      const watch = watchdogMs && setInterval(endSilent, watchdogMs / 2).unref()
      const stop = async () => {
        isStopping = true
        clearInterval(watch as NodeJS.Timeout | undefined)
        dealer.close()
        await Promise.all(slots.map(end))
        others.closeAllConnections()
        others.close()
      }
      try {
        await Promise.all(slots.map(startFirst))
      } catch (reason) {
        for (const { process } of slots) process?.kill('SIGKILL')
        await stop()
        await listening.close()
        throw reason
      }
      return {
        ...listening,
        async finish(graceMs) {
          isStopping = true
          await Promise.all(
            slots.map(async ({ channel, phase, process }) => {
              if (phase === 'ready') await channel.ask('drain', graceMs).catch(() => undefined)
              else process?.kill('SIGKILL')
            }),
          )
        },
        async close() {
          await listening.close()
          await stop()
        },
      }

      /** Starts a worker of the first ones, which must all serve. One that is killed is tried again. */
      async function startFirst(slot: Slot): Promise<void> {
        for (;;) {
          try {
            return await start(slot)
          } catch (thrown) {
            const reason = toAppError(thrown)
            // Its own failure, such as of a setting, which the next one would meet as well.
            if (!(thrown instanceof WorkerEnded) || slot.failures >= mostFailures || isStopping) throw reason
            await sleep(waitOf(slot))
          }
        }
      }

      /** Starts a process and resolves when it serves. Throws its failure, and WorkerEnded where it ends. */
      async function start(slot: Slot): Promise<void> {
        const child = startWorkerProcess(slot.worker, app.settings)
        const desk = limits.desk()
        const channel = openChannel(child, {
          ...heardFrom(slot),
          'rates.take': ({ subjects, tokens }) => desk.take(subjects, tokens),
          'rates.end': ({ ticket, tokens }) => desk.end(ticket, tokens),
          'rates.undo': ({ ticket, tokens }) => desk.undo(ticket, tokens),
        })
        Object.assign(slot, { process: child, channel, desk, phase: 'starting', startedAt: Date.now(), counts: [] })
        slot.seenAt = performance.now()
        const over = new Promise<WorkerEnded>((resolve) => {
          child.once('error', (reason) => resolve(new WorkerEnded(slot.worker, reason.message)))
          child.once('exit', (code, signal) => resolve(new WorkerEnded(slot.worker, signal ?? `exit code ${code}`)))
        })
        const begun = channel.ask<number>('begin', order(slot))
        // A process that ends answers nothing any more: its end is the reason then.
        const port = await Promise.race([
          begun.catch((reason) => (reason instanceof ChannelClosed ? over : toAppError(reason))),
          over,
        ])
        if (port instanceof Error) {
          slot.failures++
          slot.phase = 'ended'
          slot.process = undefined
          child.kill('SIGKILL')
          throw port
        }
        Object.assign(slot, { port, phase: 'ready', isTaking: true, connections: 0 })
        if (phase === 'ready') channel.tell('phase', phase)
        tellRecord()
        dealer.resume()
        void over.then((reason) => leave(slot, reason))
      }

      /** A worker that served has ended: connections on their way to it go to others, and a new one takes its place. */
      function leave(slot: Slot, { how }: WorkerEnded): void {
        Object.assign(slot, { phase: 'ended', isTaking: false, connections: 0, port: undefined, process: undefined })
        slot.desk?.leave()
        const { counts } = slot
        ended = ended.then((before) => sumOf([before, counts]))
        slot.counts = []
        dealer.redeal(slot)
        if (isStopping) return
        slot.restarts++
        if (Date.now() - slot.startedAt > settledMs) slot.failures = 0
        log.error('a worker ended: another one takes its place', { worker: slot.worker, reason: how })
        void replace(slot)
      }

      async function replace(slot: Slot): Promise<void> {
        for (;;) {
          await sleep(slot.failures === 0 ? 0 : waitOf(slot), undefined, { ref: false })
          if (isStopping) return
          try {
            await start(slot)
            // It has to live for a while before the next end counts as its first.
            slot.failures++
            return log.notice('a worker serves again', { worker: slot.worker, pid: slot.process?.pid })
          } catch (reason) {
            const { message } = toAppError(reason)
            log.error('a worker could not be started', { worker: slot.worker, reason: message })
            if (slot.failures >= mostFailures && slots.every(({ phase }) => phase !== 'ready'))
              return giveUp(new AppError('unavailable', `No worker can be started: ${message}`, { cause: reason }))
          }
        }
      }

      function tellRecord(): void {
        app.service?.update({
          workers: slots.flatMap(({ worker, process: child }) => (child?.pid ? [{ worker, pid: child.pid }] : [])),
        })
      }

      function endSilent(): void {
        for (const { worker, phase, process: child, seenAt } of slots) {
          if (phase !== 'ready' || performance.now() - seenAt < watchdogMs!) continue
          log.error('a worker gave no sign of life, and is ended', { worker })
          child?.kill('SIGKILL')
        }
      }
    },
  }

  function heardFrom(slot: Slot) {
    return {
      taken: (id: number) => dealer.taken(id),
      closed: (closed: number) => {
        slot.connections = Math.max(0, slot.connections - closed)
      },
      alive: () => {
        slot.seenAt = performance.now()
      },
      /** It was asked to stop by itself: others take over, and then it may. */
      leaving: () => {
        slot.isTaking = false
        if (!isStopping) slot.channel.tell('leave')
      },
      counted: (snapshot: Snapshot) => {
        slot.counts = countsOf(snapshot)
      },
      maker: async (id: string) => {
        const found = await Promise.all(
          slots
            .filter((other) => other !== slot)
            .map(async (other) => ((await ofWorker(other, 'makes', false, id)) ? other.port : undefined)),
        )
        return found.find((port) => port !== undefined)
      },
    }
  }

  /** A worker's answer; `otherwise` where none comes in time. */
  function ofWorker<T>({ channel, phase }: Slot, name: string, otherwise: T, input?: unknown): Promise<T> {
    if (phase !== 'ready') return Promise.resolve(otherwise)
    return channel.ask<T>(name, input, answerMs).catch(() => otherwise)
  }

  /** Has a worker close, and ends one that does not. */
  async function end({ process: child, channel }: Slot): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const over = once(child, 'exit')
    channel.tell('close')
    const timer = setTimeout(() => child.kill('SIGKILL'), closeMs)
    await over
    clearTimeout(timer)
  }
}

/** A worker ended without a word. */
class WorkerEnded extends AppError {
  readonly how: string

  constructor(worker: number, how: string) {
    super('unavailable', `Worker ${worker} ended at its start: ${how}`)
    this.how = how
  }
}

function waitOf({ failures }: Slot): number {
  return Math.min(firstWait * 2 ** failures, longestWait)
}

const order = ['closed', 'half-open', 'open'] as const

function together(a: PluginHealth, b: PluginHealth): PluginHealth {
  const newer = (b.last_used_at ?? 0) > (a.last_used_at ?? 0) ? b : a
  const isWorse = order.indexOf(b.circuit) > order.indexOf(a.circuit)
  return { ...newer, circuit: isWorse ? b.circuit : a.circuit }
}
