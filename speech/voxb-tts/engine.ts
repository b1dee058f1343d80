/**
 * The engine of server B: Kyutai's pocket-tts (100 million parameters, 24 kHz) on the processor, from the files its authors publish.
 *
 * The model folder is one of the hub's `languages/<model>` folders: `model.safetensors`, `tokenizer.model` and
 * `embeddings/<voice>.safetensors`; a `config.json` is read where there is one. See `model-folder.ts` for where it is looked for.
 */
import { z } from 'zod'
import { AppError } from '../../src/errors.ts'
import type { EngineCapabilities, SpeechEngine, SpeechRequest } from '../engine.ts'
import type { Stream } from '../onnx/stream.ts'
import { decodeLatents, generateLatents } from './generation.ts'
import { openPocketModel, type PocketModel } from './model.ts'
import { createNoise } from './noise.ts'
import { chunkText } from './text.ts'
import { createVoices, type Voices } from './voices.ts'

const engineOptions = z.object({
  folder: z.string().min(1),
  cacheFolder: z.string().min(1),
  device: z.enum(['auto', 'cpu', 'cuda', 'mps']).default('auto'),
  precision: z.enum(['int8', 'float32']).default('int8'),
})

export type PocketEngineOptions = z.input<typeof engineOptions>

/** The module's side of `EngineModule`: as `createPocketEngine`, from options that nobody has checked. */
export function createEngine(options: Readonly<Record<string, unknown>>): SpeechEngine {
  const parsed = engineOptions.safeParse(options)
  if (parsed.success) return createPocketEngine(parsed.data)
  const details = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
  throw new AppError('configuration', 'The options of the pocket-tts engine are wrong', { details })
}

interface Streams {
  readonly language: Stream
  readonly decoder: Stream
}

/** An engine for the model in a folder; nothing is read before `load`. */
export function createPocketEngine(options: PocketEngineOptions): SpeechEngine {
  const settings = engineOptions.parse(options)
  let loaded: { readonly model: PocketModel; readonly voices: Voices } | undefined
  /** Streams whose arrays have grown to what a request needs; one that runs beside another gets its own. */
  const idle: Streams[] = []

  return {
    id: 'pocket-tts',
    get sampleRate() {
      return loaded?.model.configuration.sampleRate ?? 24_000
    },
    get capabilities() {
      return capabilitiesOf(loaded?.model)
    },
    async load(signal) {
      if (loaded) return
      const model = await openPocketModel(settings, signal)
      loaded = { model, voices: createVoices(model, settings.folder) }
    },
    prepareVoice: (source, signal) => ready().voices.prepare(source, signal),
    synthesize: (request, signal) => speak(request, signal),
    async close() {
      const { model } = loaded ?? {}
      loaded = undefined
      idle.length = 0
      await model?.close()
    },
  }

  function ready(): NonNullable<typeof loaded> {
    if (!loaded) throw new AppError('unavailable', 'The pocket-tts model is not loaded')
    return loaded
  }

  async function* speak(request: SpeechRequest, signal?: AbortSignal): AsyncGenerator<Float32Array, void, undefined> {
    const { model, voices } = ready()
    const { configuration, geometry, tokenizer } = model
    requireLanguage(request.language, configuration.language)
    const rows = voices.rowsOf(request.voice)
    const { temperature, noiseLimit } = configuration.sampling
    const noise = createNoise(temperature, noiseLimit, request.seed)
    const frameRate = configuration.sampleRate / geometry.samplesPerFrame
    const streams = idle.pop() ?? { language: model.openLanguageStream(), decoder: model.openDecoderStream() }
    try {
      for (const chunk of chunkText(request.text, tokenizer, configuration, frameRate)) {
        streams.language.reset(rows)
        yield* decodeLatents(model, streams.decoder, generateLatents(model, streams.language, chunk, noise, signal))
      }
    } finally {
      if (loaded?.model === model) idle.push(streams)
    }
  }
}

/** Before the model is loaded nobody knows whether its encoder is there. */
function capabilitiesOf(model: PocketModel | undefined): EngineCapabilities {
  return {
    languages: model ? [model.configuration.language] : [],
    cloning: model?.cloning === 'ready' ? 'neural' : 'none',
    design: 'none',
    instruct: false,
    streaming: true,
  }
}

function requireLanguage(asked: string | undefined, spoken: string): void {
  if (asked === undefined || asked.toLowerCase() === spoken.toLowerCase()) return
  throw new AppError('unavailable', `The installed pocket-tts model speaks ${spoken}, not ${asked}`)
}
