/** The shell of the neural engines: it loads and closes the model, and keeps its voices and its streams. */
import { z } from 'zod'
import { AppError } from '../../../src/errors.ts'
import type { EngineCapabilities, SpeechEngine, SpeechRequest, VoiceHandle, VoiceSource } from '../engine.ts'

/** A voice made ready; equal ones have equal keys. */
export interface PreparedVoice<Voice> {
  readonly key: string
  readonly voice: Voice
}

/** One chunk of text on its way to speech. */
export interface Utterance<Model, Streams, Voice> extends PreparedVoice<Voice> {
  readonly model: Model
  readonly streams: Streams
  readonly request: SpeechRequest
  readonly signal: AbortSignal | undefined
}

/** What one engine knows of its model. */
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
  /** `withStreams` lends streams for work ahead of the first chunk. */
  prepareVoice(
    model: Model,
    source: VoiceSource,
    context: {
      readonly signal: AbortSignal | undefined
      withStreams(work: (streams: Streams) => Promise<void>): Promise<void>
    },
  ): Promise<PreparedVoice<Voice>>
  speak(utterance: Utterance<Model, Streams, Voice>): AsyncIterable<Float32Array>
  /** Called when the model was closed. */
  onClose?(): void
}

/** An engine in its shell; nothing is read before `load`. */
export function createNeuralEngine<Model extends { close(): Promise<void> }, Streams, Voice>(
  engine: NeuralEngine<Model, Streams, Voice>,
): SpeechEngine {
  const voices = new WeakMap<VoiceHandle, PreparedVoice<Voice>>()
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
      const loaded = ready()
      const withStreams = async (work: (streams: Streams) => Promise<void>) => {
        const streams = take(loaded)
        try {
          await work(streams)
        } finally {
          giveBack(loaded, streams)
        }
      }
      const prepared = await engine.prepareVoice(loaded, source, { signal, withStreams })
      const handle = { key: prepared.key }
      voices.set(handle, prepared)
      return handle
    },
    async *synthesize(request, signal) {
      const prepared = voices.get(request.voice)
      if (!prepared) throw new AppError('not_found', 'The voice was not prepared by this engine')
      const loaded = ready()
      const streams = take(loaded)
      try {
        yield* engine.speak({ ...prepared, model: loaded, streams, request, signal })
      } finally {
        giveBack(loaded, streams)
      }
    },
    async close() {
      const closing = model
      model = undefined
      idle.length = 0
      engine.onClose?.()
      await closing?.close()
    },
  }

  function ready(): Model {
    if (!model) throw new AppError('unavailable', `The ${engine.title} model is not loaded`)
    return model
  }

  function take(loaded: Model): Streams {
    return idle.pop() ?? engine.openStreams(loaded)
  }

  /** Streams of a model that was closed meanwhile are dropped. */
  function giveBack(loaded: Model, streams: Streams): void {
    if (model === loaded) idle.push(streams)
  }
}

/** The options that all neural engines have. */
export const neuralOptions = z.object({
  /** The folder of the model. */
  folder: z.string().min(1),
  /** Where quantised weights are kept between loads. */
  cacheFolder: z.string().min(1),
  precision: z.enum(['int8', 'float32']).default('int8'),
  /** Where the codec decodes: in this process, or in parallel on another core. */
  decoder: z.enum(['here', 'process']).default('here'),
})

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
