/**
 * The engine of server B: Kyutai's pocket-tts (100 million parameters, 24 kHz) on the processor, from the files its authors
 * publish. See `model-folder.ts` for where they lie; a `config.json` beside the weights is read where there is one.
 */
import { z } from 'zod'
import { AppError } from '../../../src/errors.ts'
import { joinSamples } from '../../audio/sample-queue.ts'
import { decodeFrames } from '../../blocks/decode-frames.ts'
import type { FrameDecoder } from '../../blocks/frame-decoder.ts'
import type { Stream } from '../../blocks/state-stream.ts'
import type { EngineCapabilities, SpeechEngine, SpeechRequest, VoiceHandle, VoiceSource } from '../engine.ts'
import { parseEngineOptions } from '../engine-options.ts'
import { generateLatents } from './generation.ts'
import { openPocketModel, type PocketModel } from './model.ts'
import { createNoise } from './noise.ts'
import { chunkText } from './text.ts'
import { createVoices, keyOf, type Voices } from './voices.ts'

const engineOptions = z.object({
  /** The model that is loaded first. */
  folder: z.string().min(1),
  /** Where quantised weights are kept between loads. */
  cacheFolder: z.string().min(1),
  /** Models of other languages, each loaded when its language is first spoken. */
  others: z.array(z.object({ language: z.string().min(1), folder: z.string().min(1) })).default([]),
  device: z.enum(['auto', 'cpu', 'cuda', 'mps']).default('auto'),
  precision: z.enum(['int8', 'float32']).default('int8'),
  /** Where the codec decodes: in this process, or beside it on another core. */
  decoder: z.enum(['here', 'process']).default('here'),
})

export type PocketEngineOptions = z.input<typeof engineOptions>

/** The module's side of `EngineModule`: `createPocketEngine` from unchecked options. */
export function createEngine(options: Readonly<Record<string, unknown>>): SpeechEngine {
  return createPocketEngine(parseEngineOptions('pocket-tts', engineOptions, options))
}

/** A model with its voices and streams. */
interface Loaded {
  readonly model: PocketModel
  readonly voices: Voices
  /** Streams with arrays of the size that requests need; one that runs beside another gets its own. */
  readonly idle: { readonly language: Stream; readonly decoder: FrameDecoder<Float32Array> }[]
}

/** An engine for the model in a folder; nothing is read before `load`. */
export function createPocketEngine(options: PocketEngineOptions): SpeechEngine {
  const { folder, others, ...settings } = engineOptions.parse(options)
  const sources = new WeakMap<VoiceHandle, VoiceSource>()
  let main: Loaded | undefined
  /** At most one beside the main one: each takes hundreds of megabytes. */
  let other: (Loaded & { readonly folder: string }) | undefined

  return {
    id: 'pocket-tts',
    get sampleRate() {
      return main?.model.configuration.sampleRate ?? 24_000
    },
    get capabilities() {
      return capabilitiesOf(main?.model, others)
    },
    async load(signal) {
      main ??= await open(folder, signal)
    },
    async prepareVoice(source, signal) {
      const voice = { key: await keyOf(source) }
      await ready().voices.rowsOf(voice.key, source, signal)
      sources.set(voice, source)
      return voice
    },
    synthesize: (request, signal) => speak(request, signal),
    async close() {
      const opened = [main, other]
      main = undefined
      other = undefined
      for (const loaded of opened) await loaded?.model.close()
    },
  }

  async function open(from: string, signal?: AbortSignal): Promise<Loaded> {
    const model = await openPocketModel({ ...settings, folder: from }, signal)
    return { model, voices: createVoices(model, from), idle: [] }
  }

  function ready(): Loaded {
    if (!main) throw new AppError('unavailable', 'The pocket-tts model is not loaded')
    return main
  }

  /** The model that speaks a language. */
  async function speakerOf(language: string | undefined, signal?: AbortSignal): Promise<Loaded> {
    const loaded = ready()
    const wanted = language?.toLowerCase()
    const spoken = loaded.model.configuration.language
    if (wanted === undefined || wanted === spoken.toLowerCase()) return loaded
    const found = others.find((model) => model.language.toLowerCase() === wanted)
    if (!found) throw new AppError('unavailable', `The installed pocket-tts model speaks ${spoken}, not ${language}`)
    if (other?.folder !== found.folder) {
      await other?.model.close()
      other = undefined
      other = { ...(await open(found.folder, signal)), folder: found.folder }
    }
    return other
  }

  async function* speak(request: SpeechRequest, signal?: AbortSignal): AsyncGenerator<Float32Array, void, undefined> {
    const source = sources.get(request.voice)
    if (!source) throw new AppError('not_found', 'The voice was not prepared by this engine')
    const { model, voices, idle } = await speakerOf(request.language, signal)
    const { configuration, geometry, tokenizer } = model
    const rows = await voices.rowsOf(request.voice.key, source, signal)
    const { temperature, noiseLimit } = configuration.sampling
    const noise = createNoise(temperature, noiseLimit, request.seed)
    const frameRate = configuration.sampleRate / geometry.samplesPerFrame
    const streams = idle.pop() ?? { language: model.openLanguageStream(), decoder: model.openDecoder() }
    try {
      for (const chunk of chunkText(request.text, tokenizer, configuration, frameRate)) {
        streams.language.reset(rows)
        const latents = generateLatents(model, streams.language, chunk, noise, signal)
        yield* decodeFrames(streams.decoder, latents, joinSamples)
      }
    } finally {
      idle.push(streams)
    }
  }
}

/** Before the model is loaded it is unknown whether its encoder is there. */
function capabilitiesOf(model: PocketModel | undefined, others: readonly { language: string }[]): EngineCapabilities {
  return {
    languages: model ? [...new Set([model.configuration.language, ...others.map(({ language }) => language)])] : [],
    cloning: model?.cloning === 'ready' ? 'neural' : 'none',
    design: 'none',
    instruct: false,
    streaming: true,
  }
}
