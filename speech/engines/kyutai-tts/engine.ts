/**
 * The engine of server C: Kyutai TTS 1.6B (24 kHz, English and French, guidance, voices of the hub) on the processor, from the
 * files its authors publish. See `model-folder.ts` for where they lie.
 */
import { z } from 'zod'
import { AppError } from '../../../src/errors.ts'
import { decodeFrames, joinCodes } from '../../blocks/decode-frames.ts'
import type { FrameDecoder } from '../../blocks/frame-decoder.ts'
import type { EngineCapabilities, SpeechEngine, SpeechRequest, VoiceHandle } from '../engine.ts'
import { parseEngineOptions } from '../engine-options.ts'
import { createChooser } from './choice.ts'
import { generateFrames } from './generation.ts'
import type { VoiceEmbedding, VoiceMemory } from './memory.ts'
import { type KyutaiModel, type LanguageStreams, openKyutaiModel } from './model.ts'
import { chunkLimits, measurePace } from './pace.ts'
import { readScript } from './script.ts'
import { voiceSuffix } from './voice-file.ts'
import { findVoice } from './voices.ts'
import { createWordTimes } from './word-times.ts'
import { initialPadding } from './words.ts'

const engineOptions = z.object({
  /** Holds `config.json`. */
  folder: z.string().min(1),
  /** Where quantised weights are kept between loads. */
  cacheFolder: z.string().min(1),
  /** Where the voices lie, the preferred folder first. */
  voices: z.array(z.string().min(1)).default([]),
  precision: z.enum(['int8', 'float32']).default('int8'),
  /** Where the codec decodes: in this process, or beside it on another core. */
  decoder: z.enum(['here', 'process']).default('here'),
  threads: z.int().min(1).max(64).default(1),
  /** Codebooks of a frame; the model's own number by default. */
  codebooks: z.int().min(1).max(256).optional(),
})

export type KyutaiEngineOptions = z.input<typeof engineOptions>

/** The module's side of `EngineModule`: `createKyutaiEngine` from unchecked options. */
export function createEngine(options: Readonly<Record<string, unknown>>): SpeechEngine {
  return createKyutaiEngine(parseEngineOptions('kyutai-tts', engineOptions, options))
}

/** The guidance where a request names none: the authors' own. */
const usualGuidance = 2

/** The streams of one utterance; one that runs beside another gets its own. */
interface Streams {
  readonly language: LanguageStreams
  readonly memory: VoiceMemory
  readonly decoder: FrameDecoder<Int32Array>
}

/** An engine for the model in a folder; nothing is read before `load`. */
export function createKyutaiEngine(options: KyutaiEngineOptions): SpeechEngine {
  const settings = engineOptions.parse(options)
  const voices = new WeakMap<VoiceHandle, VoiceEmbedding>()
  const idle: Streams[] = []
  let model: KyutaiModel | undefined
  let pace = 1

  return {
    id: 'kyutai-tts',
    get sampleRate() {
      return model?.configuration.codec.sample_rate ?? 24_000
    },
    get capabilities() {
      return capabilitiesOf(model, pace)
    },
    async load(signal) {
      if (model) return
      const loaded = await openKyutaiModel(settings, signal)
      try {
        const streams = openStreams(loaded)
        pace = await paceOf(loaded, streams)
        idle.push(streams)
        model = loaded
      } catch (thrown) {
        await loaded.close()
        throw thrown
      }
    },
    async prepareVoice(source) {
      const voice = await findVoice(source, ready().configuration.model, settings.voices)
      const handle = { key: voice.key }
      voices.set(handle, voice)
      return handle
    },
    synthesize: (request, signal) => speak(request, signal),
    async close() {
      const closing = model
      model = undefined
      idle.length = 0
      await closing?.close()
    },
  }

  function ready(): KyutaiModel {
    if (!model) throw new AppError('unavailable', 'The Kyutai TTS model is not loaded')
    return model
  }

  async function* speak(request: SpeechRequest, signal?: AbortSignal): AsyncGenerator<Float32Array, void, undefined> {
    const voice = voices.get(request.voice)
    if (!voice) throw new AppError('not_found', 'The voice was not prepared by this engine')
    const loaded = ready()
    const { configuration, conditions, tokenizer } = loaded
    const { frame_rate: frameRate } = configuration.codec
    const { entries, written } = readScript([request.text], tokenizer, { frameRate })
    // A text of marks alone has no words: nothing is spoken.
    if (entries.length === 0) return
    const chooser = createChooser(configuration.model, { seed: request.seed })
    const streams = idle.pop() ?? openStreams(loaded)
    try {
      signal?.throwIfAborted()
      const memory = await streams.memory.of(voice)
      const condition = conditions.sum(request.cfg_coef ?? usualGuidance)
      const { onWords } = request
      const times = onWords && createWordTimes(written, (step) => (step - initialPadding) / frameRate, onWords)
      const frames = generateFrames(loaded, streams.language, { entries, condition, memory }, chooser, {
        signal,
        ...(times && { onWords: times.update }),
      })
      const samples = decodeFrames(streams.decoder, codesOf(frames, initialPadding), joinCodes)
      yield* without(samples, initialPadding * loaded.geometry.samplesPerFrame)
    } finally {
      if (model === loaded) idle.push(streams)
    }
  }
}

function openStreams(loaded: KyutaiModel): Streams {
  return { language: loaded.openStreams(), memory: loaded.openMemory(), decoder: loaded.openDecoder() }
}

async function paceOf(loaded: KyutaiModel, { language, memory }: Streams): Promise<number> {
  const { dim } = loaded.configuration.model.conditioners.speaker_wavs.tensor
  // A voice of the published length, so that its place is ready when the first request comes.
  const voice = { key: '', frames: usualVoiceFrames, data: new Float32Array(dim * usualVoiceFrames) }
  const condition = loaded.conditions.sum(usualGuidance)
  return measurePace(loaded, language, { condition, memory: await memory.of(voice) })
}

/** Ten seconds. */
const usualVoiceFrames = 125

/**
 * The first frames, which are not heard, come in one piece with the one behind them: it is decoded as soon as it is made.
 */
async function* codesOf(
  frames: AsyncIterable<{ readonly codes: Int32Array }>,
  unheard: number,
): AsyncGenerator<Int32Array, void, undefined> {
  const first: Int32Array[] = []
  let count = 0
  for await (const { codes } of frames) {
    count += 1
    if (count <= unheard) first.push(codes)
    else yield count === unheard + 1 ? joinCodes([...first, codes]) : codes
  }
}

/** The first frames come before any word, and can click: they are decoded, since the others follow them, and not heard. */
async function* without(
  pieces: AsyncIterable<Float32Array>,
  count: number,
): AsyncGenerator<Float32Array, void, undefined> {
  let left = count
  for await (const piece of pieces) {
    const heard = piece.subarray(Math.min(left, piece.length))
    left -= piece.length - heard.length
    if (heard.length > 0) yield heard.slice()
  }
}

function capabilitiesOf(loaded: KyutaiModel | undefined, pace: number): EngineCapabilities {
  return {
    languages: ['English', 'French'],
    cloning: 'none',
    design: 'none',
    instruct: false,
    streaming: true,
    wordTimes: 'measured',
    ...(loaded && {
      voiceSuffix: voiceSuffix(loaded.configuration.model),
      pace,
      chunk: chunkLimits(pace),
    }),
  }
}
