import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { AppError } from '../src/errors.ts'
import { createSampleQueue, type SampleQueue } from './audio/sample-queue.ts'
import type { SpeechEngine, VoiceHandle, VoiceSource } from './engines/engine.ts'
import type { FromEngine, PlainError, ToEngine } from './engines/messages.ts'

export interface EngineProcessOptions {
  /** The address (`file:` URL) of the engine's module; see EngineModule. */
  readonly module: string
  readonly options?: Readonly<Record<string, unknown>>
  /** The whole environment of the process; empty where nothing is said, so that no secret reaches native code. */
  readonly environment?: Readonly<Record<string, string>>
  /** How long loading may take, in milliseconds. */
  readonly openMs?: number
  /** How long a cancelled call may go on before the process is killed, in milliseconds. */
  readonly graceMs?: number
  /** How long no process is started after three were lost with nothing done in between, in milliseconds. */
  readonly restMs?: number
  /** Told when the process ended by itself or was killed: for the log. */
  onLoss?(reason: string): void
}

/** An engine in a process of its own. A crash or hang costs the call in flight; the next call starts a new process. */
export interface EngineProcess extends SpeechEngine {
  /** The process that is running now. */
  readonly pid: number | undefined
}

/** Processes that may be lost one after the other before the next start waits. */
const lossesInARow = 3

/** Voices that one process keeps ready. */
const keptVoices = 64

type Ready = Extract<FromEngine, { type: 'ready' }>

interface Running {
  readonly process: ChildProcess
  readonly ready: Promise<Ready>
  readonly calls: Map<number, SampleQueue>
  /** The keys of prepared voices, the oldest first. */
  readonly voices: Set<string>
}

/** Prepares to run an engine; the process starts at `load` or the first call. One call at a time, as with any engine. */
export function createEngineProcess(options: EngineProcessOptions): EngineProcess {
  const { graceMs = 1000, openMs = 120_000, restMs = 5000 } = options
  const sources = new WeakMap<VoiceHandle, VoiceSource>()
  let running: Running | undefined
  let known: Ready | undefined
  let closing = false
  let calls = 0
  let losses = 0
  let lostAt = 0

  return {
    get id() {
      return opened().id
    },
    get sampleRate() {
      return opened().sampleRate
    },
    get capabilities() {
      return opened().capabilities
    },
    get pid() {
      return running?.process.pid
    },
    async load() {
      await start().ready
    },
    async prepareVoice(source, signal) {
      const voice = { key: keyOf(source) }
      sources.set(voice, source)
      await prepare(start(), voice, signal)
      return voice
    },
    async *synthesize({ voice, ...request }, signal) {
      const engine = start()
      await prepare(engine, voice, signal)
      yield* converse(engine, { type: 'synthesize', key: voice.key, request }, signal)
    },
    async close() {
      closing = true
      const engine = running
      if (!engine || engine.process.exitCode !== null || engine.process.signalCode !== null) return
      const ended = new Promise((resolve) => engine.process.once('exit', resolve))
      const timer = setTimeout(() => engine.process.kill('SIGKILL'), graceMs)
      engine.process.disconnect()
      await ended
      clearTimeout(timer)
    },
  }

  function opened(): Ready {
    if (!known) throw new AppError('internal', 'The engine is asked before it is loaded')
    return known
  }

  /** The running process, or a new one where it has ended. */
  function start(): Running {
    if (closing) throw new AppError('unavailable', 'The speech engine is closed')
    if (!running && losses >= lossesInARow && performance.now() < lostAt + restMs) {
      const retryAfter = Math.ceil(restMs / 1000)
      throw new AppError('unavailable', 'The speech engine keeps ending', {
        details: [`it is started again in ${retryAfter} s`],
        retryAfter,
      })
    }
    running ??= launch()
    return running
  }

  function launch(): Running {
    const child = spawnEngine(options.environment ?? {})
    const inFlight = new Map<number, SampleQueue>()
    let said = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-500)
    })
    const ready = new Promise<Ready>((resolve, reject) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), openMs)
      child.on('message', (message: FromEngine) => {
        if (message.type === 'ready') {
          clearTimeout(timer)
          known = message
          resolve(message)
        } else if (message.type === 'unusable') reject(revive(message.error))
        else {
          // What it said last counts for nothing, and a voice is soon prepared: only sound shows that it works.
          if (message.type === 'audio') losses = 0
          receive(inFlight, message)
        }
      })
      const end = (reason: string) => {
        clearTimeout(timer)
        if (running === engine) running = undefined
        // One that was killed here had its time, or said by itself why it is of no use.
        if (!child.killed) losses += 1
        lostAt = performance.now()
        const lost = lostEngine(reason)
        reject(lost)
        for (const call of inFlight.values()) call.finish(lost)
        inFlight.clear()
        if (!closing) options.onLoss?.(reason)
      }
      child.once('error', (error) => end(error.message))
      child.once('exit', (code, signal) => end([signal ?? `exit code ${code}`, said.trim()].filter(Boolean).join(': ')))
    })
    const engine: Running = { process: child, ready, calls: inFlight, voices: new Set() }
    ready.catch(() => {
      // Whoever waits for it hears of it; a process that could not open its engine is of no use to the next caller.
      if (running === engine) running = undefined
      child.kill('SIGKILL')
    })
    send(engine, { type: 'open', module: options.module, options: options.options ?? {} })
    return engine
  }

  async function prepare(engine: Running, voice: VoiceHandle, signal?: AbortSignal): Promise<void> {
    await engine.ready
    if (engine.voices.delete(voice.key)) {
      engine.voices.add(voice.key)
      return
    }
    const source = sources.get(voice)
    if (!source) throw new AppError('internal', 'The voice was not prepared')
    for await (const _ of converse(engine, { type: 'prepare', key: voice.key, source }, signal));
    engine.voices.add(voice.key)
    for (const oldest of engine.voices) {
      if (engine.voices.size <= keptVoices) break
      engine.voices.delete(oldest)
      send(engine, { type: 'forget', key: oldest })
    }
  }

  /** Sends one call and yields what comes back. Ends only when the process has finished with the call or is dead. */
  async function* converse(engine: Running, message: Question, signal?: AbortSignal): AsyncGenerator<Float32Array> {
    signal?.throwIfAborted()
    const number = ++calls
    const call = createSampleQueue()
    const cancel = () => {
      send(engine, { type: 'cancel', call: number })
      // Native code that hangs does not hear us.
      const timer = setTimeout(() => engine.process.kill('SIGKILL'), graceMs)
      void call.settled.then(() => clearTimeout(timer))
    }
    engine.calls.set(number, call)
    if (!engine.process.connected) call.finish(lostEngine('its process has ended'))
    send(engine, { ...message, call: number })
    signal?.addEventListener('abort', cancel, { once: true })
    try {
      yield* call.pieces()
      signal?.throwIfAborted()
    } catch (thrown) {
      signal?.throwIfAborted()
      throw thrown
    } finally {
      signal?.removeEventListener('abort', cancel)
      if (!call.finished) cancel()
      await call.settled
      engine.calls.delete(number)
    }
  }
}

type Question =
  | Omit<Extract<ToEngine, { type: 'prepare' }>, 'call'>
  | Omit<Extract<ToEngine, { type: 'synthesize' }>, 'call'>

function receive(
  calls: ReadonlyMap<number, SampleQueue>,
  message: Exclude<FromEngine, { type: 'ready' | 'unusable' }>,
): void {
  const call = calls.get(message.call)
  if (message.type === 'audio') call?.push(message.samples)
  else call?.finish(message.type === 'failed' ? revive(message.error) : undefined)
}

function lostEngine(reason: string): AppError {
  return new AppError('unavailable', 'The speech engine ended unexpectedly', { cause: new Error(reason) })
}

function send(engine: Running, message: ToEngine): void {
  // A process that has just died is noticed by its exit.
  if (engine.process.connected) engine.process.send(message, undefined, {}, () => {})
}

function spawnEngine(environment: Readonly<Record<string, string>>): ChildProcess {
  const self = import.meta.url
  // From the sources the child needs the loader that its parent has.
  const loader = self.endsWith('.ts') ? ['--import', import.meta.resolve('tsx')] : []
  const entry = new URL(self.endsWith('.ts') ? './engine-child.ts' : './engine-child.js', self)
  return spawn(process.execPath, [...loader, fileURLToPath(entry)], {
    env: { ...environment },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
    windowsHide: true,
  })
}

function revive({ code, message, details, cause }: PlainError): AppError {
  return new AppError(code, message, { details, ...(cause === undefined ? {} : { cause: new Error(cause) }) })
}

/** Equal sources have equal keys. */
function keyOf(source: VoiceSource): string {
  const hash = createHash('sha256').update(`${source.kind}\n`)
  if (source.kind === 'preset') hash.update(source.voice.toLowerCase())
  else if (source.kind === 'design') hash.update(source.description)
  else if (source.kind === 'file') hash.update(source.path)
  else {
    const { buffer, byteOffset, byteLength } = source.samples
    hash.update(`${source.sampleRate}\n${source.text ?? ''}\n`).update(new Uint8Array(buffer, byteOffset, byteLength))
  }
  return hash.digest('hex')
}
