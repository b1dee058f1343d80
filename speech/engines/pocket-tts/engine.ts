/**
 * The engine of server B: Kyutai's pocket-tts (100 million parameters, 24 kHz) on the processor, from the files its authors
 * publish. See `model-folder.ts` for where they lie; a `config.json` next to the weights is read where there is one.
 */
import { z } from 'zod'
import { AppError } from '../../../src/errors.ts'
import { decodeFrames } from '../../blocks/decode-frames.ts'
import type { FrameDecoder } from '../../blocks/frame-decoder.ts'
import type { CacheRows } from '../../blocks/key-value-cache.ts'
import type { Stream } from '../../blocks/state-stream.ts'
import type { SpeechEngine, VoiceHandle, VoiceSource } from '../engine.ts'
import { createNeuralEngine, neuralOptions, parseEngineOptions, type Utterance } from '../neural/engine.ts'
import { generateLatents } from './generation.ts'
import { openPocketModel, type PocketModel } from './model.ts'
import { createNoise } from './noise.ts'
import { chunkText } from './text.ts'
import { makeVoice } from './voices.ts'

const engineOptions = neuralOptions.extend({
  /** Models of other languages, each loaded when its language is first spoken. */
  others: z.array(z.object({ language: z.string().min(1), folder: z.string().min(1) })).default([]),
})

type Settings = z.output<typeof engineOptions>

interface Streams {
  readonly language: Stream
  readonly decoder: FrameDecoder
}

/** An engine for the model in a folder, with models of other languages next to it; nothing is read before `load`. */
export function createEngine(options: Readonly<Record<string, unknown>>): SpeechEngine {
  const settings = parseEngineOptions('pocket-tts', engineOptions, options)
  const sources = new WeakMap<VoiceHandle, VoiceSource>()
  const main = createLanguageEngine(settings)
  /** At most one in addition to the main one: each takes hundreds of megabytes. */
  let other: { readonly folder: string; readonly engine: SpeechEngine } | undefined

  return {
    id: main.id,
    get sampleRate() {
      return main.sampleRate
    },
    get capabilities() {
      return main.capabilities
    },
    load: main.load,
    async prepareVoice(source, signal) {
      const voice = await main.prepareVoice(source, signal)
      sources.set(voice, source)
      return voice
    },
    async *synthesize(request, signal) {
      const speaker = await speakerOf(request.language, signal)
      const source = sources.get(request.voice)
      const isMain = speaker === main || !source
      const voice = isMain ? request.voice : await speaker.prepareVoice(source, signal)
      yield* speaker.synthesize({ ...request, voice }, signal)
    },
    async close() {
      const closing = other
      other = undefined
      await main.close()
      await closing?.engine.close()
    },
  }

  /** The engine of the model that speaks a language. */
  async function speakerOf(language: string | undefined, signal?: AbortSignal): Promise<SpeechEngine> {
    const wanted = language?.toLowerCase()
    const [spoken] = main.capabilities.languages
    if (wanted === undefined || spoken === undefined || wanted === spoken.toLowerCase()) return main
    const found = settings.others.find((model) => model.language.toLowerCase() === wanted)
    if (!found) throw new AppError('unavailable', `The installed pocket-tts model speaks ${spoken}, not ${language}`)
    if (other?.folder !== found.folder) {
      await other?.engine.close()
      other = undefined
      const engine = createLanguageEngine({ ...settings, folder: found.folder })
      await engine.load(signal)
      other = { folder: found.folder, engine }
    }
    return other.engine
  }
}

function createLanguageEngine(settings: Settings): SpeechEngine {
  return createNeuralEngine<PocketModel, Streams, CacheRows>({
    id: 'pocket-tts',
    title: 'pocket-tts',
    open: (signal) => openPocketModel(settings, signal),
    openStreams: (model) => ({ language: model.openLanguageStream(), decoder: model.openDecoder() }),
    sampleRateOf: ({ configuration }) => configuration.sampleRate,
    capabilitiesOf: (model) => ({
      languages: model
        ? [...new Set([model.configuration.language, ...settings.others.map(({ language }) => language)])]
        : [],
    }),
    makeVoice: (model, source, signal) => makeVoice(model, settings.folder, source, signal),
    bytesOf: ({ keys, values }) => [...keys, ...values].reduce((sum, array) => sum + array.byteLength, 0),
    speak,
  })
}

async function* speak({
  model,
  streams,
  voice,
  request,
  signal,
}: Utterance<PocketModel, Streams, CacheRows>): AsyncGenerator<Float32Array, void, undefined> {
  const { configuration, geometry, tokenizer } = model
  const { temperature, noiseLimit } = configuration.sampling
  const noise = createNoise(temperature, noiseLimit, request.seed)
  const frameRate = configuration.sampleRate / geometry.samplesPerFrame
  for (const chunk of chunkText(request.text, tokenizer, configuration, frameRate)) {
    streams.language.reset(voice)
    const latents = generateLatents(model, streams.language, chunk, noise, signal)
    yield* decodeFrames(streams.decoder, latents)
  }
}
