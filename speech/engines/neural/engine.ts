/** The shell of the neural engines: it loads and closes the model, and keeps its voices and its streams. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { AppError } from '../../../src/errors.ts'
import { createRecent } from '../../shared/recent.ts'
import {
  type EngineCapabilities,
  keyOfSource,
  type SingleVoice,
  type SpeechEngine,
  type SpeechRequest,
  type VoiceHandle,
  type VoiceSource,
} from '../engine.ts'

/** One chunk of text on its way to speech. */
export interface Utterance<Model, Streams, Voice> {
  readonly model: Model
  readonly streams: Streams
  /** Equal voices have equal keys. */
  readonly key: string
  readonly voice: Voice
  readonly request: SpeechRequest
  readonly signal: AbortSignal | undefined
}

export interface NeuralEngine<Model extends { close(): Promise<void> }, Streams, Voice> {
  readonly id: string
  /** The model's name in messages. */
  readonly title: string
  open(signal: AbortSignal | undefined): Promise<Model>
  /** The streams of one utterance; one that runs beside another gets its own. */
  openStreams(model: Model): Streams
  /** Seconds of speech made in a second. */
  measurePace?(model: Model, streams: Streams): Promise<number>
  sampleRateOf(model: Model): number
  /** Before the model is loaded it is unknown what it can do. */
  capabilitiesOf(model: Model | undefined, pace: number): EngineCapabilities
  /** A voice as the model speaks with it. Throws as `SpeechEngine.prepareVoice` does. */
  makeVoice(model: Model, source: SingleVoice, signal: AbortSignal | undefined): Promise<Voice>
  /** The voices of one script as one, for a model that has a place for each. Throws `invalid` for voices that do not go together. */
  joinVoices?(voices: readonly Voice[]): Voice
  /** The memory that a voice takes. */
  bytesOf(voice: Voice): number
  /** Work ahead of a voice's first chunk, whose time is limited. */
  warmUp?(utterance: Omit<Utterance<Model, Streams, Voice>, 'request'>): Promise<void>
  speak(utterance: Utterance<Model, Streams, Voice>): AsyncIterable<Float32Array>
}

/** About ten voices of the official size; one that went is made again when it is requested again. */
const keptVoiceBytes = 64 * 2 ** 20

/** What any voice takes beside its numbers. */
const leastVoiceBytes = 4096

/** An engine in its shell; nothing is read before `load`. */
export function createNeuralEngine<Model extends { close(): Promise<void> }, Streams, Voice>(
  engine: NeuralEngine<Model, Streams, Voice>,
): SpeechEngine {
  const sources = new WeakMap<VoiceHandle, VoiceSource>()
  const voices = createRecent<Voice>(keptVoiceBytes, (voice) => leastVoiceBytes + engine.bytesOf(voice))
  const idle: Streams[] = []
  let model: Model | undefined
  let pace = 1

  return {
    id: engine.id,
    get sampleRate() {
      return model ? engine.sampleRateOf(model) : 24_000
    },
    get capabilities() {
      return engine.capabilitiesOf(model, pace)
    },
    async load(signal) {
      if (model) return
      const loaded = await engine.open(signal)
      try {
        const streams = engine.openStreams(loaded)
        pace = (await engine.measurePace?.(loaded, streams)) ?? 1
        idle.push(streams)
        model = loaded
      } catch (thrown) {
        await loaded.close()
        throw thrown
      }
    },
    async prepareVoice(source, signal) {
      const handle = { key: await keyOf(source) }
      sources.set(handle, source)
      const { utterance, giveBack } = await begin(handle, signal)
      try {
        await engine.warmUp?.(utterance)
      } finally {
        giveBack()
      }
      signal?.throwIfAborted()
      return handle
    },
    async *synthesize(request, signal) {
      const { utterance, giveBack } = await begin(request.voice, signal)
      try {
        yield* engine.speak({ ...utterance, request })
      } finally {
        giveBack()
      }
    },
    async close() {
      const closing = model
      model = undefined
      idle.length = 0
      voices.clear()
      await closing?.close()
    },
  }

  /** An utterance with streams of its own until they are given back; those of a model that was closed are dropped. */
  async function begin(handle: VoiceHandle, signal: AbortSignal | undefined) {
    if (!model) throw new AppError('unavailable', `The ${engine.title} model is not loaded`)
    const loaded = model
    const { key } = handle
    const voice = voices.get(key) ?? (await makeVoice(loaded, handle, signal))
    const streams = idle.pop() ?? engine.openStreams(loaded)
    const giveBack = () => {
      if (model === loaded) idle.push(streams)
    }
    return { utterance: { model: loaded, streams, key, voice, signal }, giveBack }
  }

  async function makeVoice(loaded: Model, handle: VoiceHandle, signal: AbortSignal | undefined): Promise<Voice> {
    const source = sources.get(handle)
    if (!source) throw new AppError('not_found', 'The voice was not prepared by this engine')
    const voice = await (source.kind === 'several'
      ? makeJoined(loaded, source.voices, signal)
      : engine.makeVoice(loaded, source, signal))
    voices.set(handle.key, voice)
    return voice
  }

  async function makeJoined(loaded: Model, sources: readonly SingleVoice[], signal: AbortSignal | undefined) {
    if (!engine.joinVoices) throw new AppError('unavailable', `${engine.title} speaks with one voice at a time`)
    return engine.joinVoices(await Promise.all(sources.map((source) => engine.makeVoice(loaded, source, signal))))
  }
}

/** Equal sources have equal keys: a file is known by its content. */
async function keyOf(source: VoiceSource): Promise<string> {
  if (source.kind === 'several') return (await Promise.all(source.voices.map(keyOf))).join()
  if (source.kind !== 'file') return keyOfSource(source)
  const bytes = await readVoice(source.path)
  return `file:${createHash('sha256').update(bytes).digest('hex')}`
}

/** The content of a voice file. Throws `not_found` for one that cannot be read. */
export async function readVoice(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path)
  } catch (cause) {
    throw new AppError('not_found', `The voice file ${path} cannot be read`, { cause })
  }
}

/** The options of the neural engines: where a model lies, and how it is computed. */
export const neuralOptions = z.object({
  folder: z.string().min(1),
  /** Where quantised weights are kept between loads. */
  cacheFolder: z.string().min(1),
  /** The precision of the language model; the codec is always 32-bit. */
  precision: z.enum(['int8', 'float32']).default('int8'),
  /** Where the codec decodes: in this process, or in parallel on another core. */
  decoder: z.enum(['here', 'process']).default('here'),
  /** Threads of the language model; pocket-tts has one. */
  threads: z.int().min(1).max(64).default(1),
})

export type ModelOptions = z.input<typeof neuralOptions>

/** The options of an engine, which cross a process boundary as plain data. Throws `configuration` with all that is wrong. */
export function parseEngineOptions<Schema extends z.ZodType>(
  engine: string,
  schema: Schema,
  options: Readonly<Record<string, unknown>>,
): z.output<Schema> {
  const parsed = schema.safeParse(options)
  if (parsed.success) return parsed.data
  const details = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
  throw new AppError('configuration', `Invalid options of the ${engine} engine`, { details })
}
