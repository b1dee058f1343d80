import { AppError } from '../src/errors.ts'
import { type Child, createRevivedChild } from '../src/process/process.ts'
import {
  keyOfSource,
  type SpeechEngine,
  type SpeechRequest,
  type VoiceHandle,
  type VoiceSource,
  type WordTime,
} from './engines/engine.ts'

/** The methods of an engine's process. Voices stay in it; a key names each. */
export interface EngineMethods {
  /** Imports the engine's module, by its folder or address, and loads the engine. */
  readonly open: {
    readonly input: { readonly module: string; readonly options: Readonly<Record<string, unknown>> }
    readonly result: OpenedEngine
  }
  readonly prepare: { readonly input: { readonly key: string; readonly source: VoiceSource } }
  /** Drops a prepared voice. */
  readonly forget: { readonly input: string }
  readonly synthesize: {
    readonly input: {
      readonly key: string
      readonly request: Omit<SpeechRequest, 'voice' | 'onWords'>
      /** Whether word times are wanted among the samples. */
      readonly words: boolean
    }
    readonly item: Float32Array | readonly WordTime[]
  }
}

type OpenedEngine = Pick<SpeechEngine, 'id' | 'sampleRate' | 'capabilities'>

export interface EngineProcessOptions {
  /** The folder of an engine, or the address (`file:` URL) of another one's module; see EngineModule. */
  readonly module: string
  readonly options?: Readonly<Record<string, unknown>>
  /** The whole environment of the process; empty by default, so that no secret reaches native code. */
  readonly environment?: Readonly<Record<string, string>>
  /** How long loading may take, in milliseconds. */
  readonly openMs?: number
  /** How long a cancelled call may go on before the process is killed, in milliseconds. */
  readonly graceMs?: number
  /** How long no process is started after three were lost without a sound in between, in milliseconds. */
  readonly restMs?: number
  /** Called when the process ended by itself or was killed: for the log. */
  onLoss?(reason: string): void
}

/** An engine in a process of its own. A crash or hang costs the call in flight; the next call starts a new process. */
export interface EngineProcess extends SpeechEngine {
  /** The process that is running now. */
  readonly pid: number | undefined
}

/** Processes that may be lost one after the other before the next start waits. Only sound shows that one works. */
const lossesInARow = 3

/** Voices that one process keeps ready. */
const keptVoices = 64

/** Prepares to run an engine; the process starts at `load` or the first call. One call at a time, as with any engine. */
export function createEngineProcess(options: EngineProcessOptions): EngineProcess {
  const { module, options: engineOptions = {}, restMs = 5000, ...rest } = options
  const child = createRevivedChild<EngineMethods>({
    ...rest,
    name: 'The speech engine',
    module: { beside: import.meta.url, name: './engine-child' },
    open: { module, options: engineOptions },
    crashBudget: { losses: lossesInARow, restMs },
  })
  const sources = new WeakMap<VoiceHandle, VoiceSource>()
  /** The keys of the voices that a process has ready, the least recently used first. */
  const voices = new WeakMap<Child<EngineMethods>, Set<string>>()

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
      return child.pid
    },
    async load() {
      await child.start()
    },
    async prepareVoice(source, signal) {
      const voice = { key: keyOfSource(source) }
      sources.set(voice, source)
      await prepare(await child.start(), voice, signal)
      return voice
    },
    async *synthesize({ voice, onWords, ...request }, signal) {
      const engine = await child.start()
      await prepare(engine, voice, signal)
      const input = { key: voice.key, request, words: onWords !== undefined }
      for await (const item of engine.stream('synthesize', input, signal))
        if (item instanceof Float32Array) yield item
        else onWords?.(item)
    },
    close: () => child.close(),
  }

  function opened(): OpenedEngine {
    if (!child.opened) throw new AppError('internal', 'The engine is used before it is loaded')
    return child.opened
  }

  async function prepare(engine: Child<EngineMethods>, voice: VoiceHandle, signal?: AbortSignal): Promise<void> {
    const kept = voices.get(engine) ?? new Set()
    voices.set(engine, kept)
    if (!kept.delete(voice.key)) {
      const source = sources.get(voice)
      if (!source) throw new AppError('internal', 'The voice was not prepared')
      await engine.request('prepare', { key: voice.key, source }, signal)
    }
    kept.add(voice.key)
    for (const oldest of kept) {
      if (kept.size <= keptVoices) break
      kept.delete(oldest)
      // A process that is lost has forgotten all its voices.
      engine.request('forget', oldest).catch(() => {})
    }
  }
}
