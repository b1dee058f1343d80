/**
 * The engine of server C: Kyutai TTS 1.6B (24 kHz, English and French, guidance, voices of the hub) on the processor, from the
 * files its authors publish. See `model-folder.ts` for where they lie.
 */
import { z } from 'zod'
import { decodeFrames } from '../../blocks/decode-frames.ts'
import type { FrameDecoder } from '../../blocks/frame-decoder.ts'
import type { EngineCapabilities, SpeechEngine, WordTime } from '../engine.ts'
import { createNeuralEngine, neuralOptions, parseEngineOptions, type Utterance } from '../neural/engine.ts'
import { chunkLimits, measurePace } from '../neural/pace.ts'
import { createChooser } from './choice.ts'
import { generateFrames } from './generation.ts'
import type { VoiceEmbedding, VoiceMemory } from './memory.ts'
import { type KyutaiModel, type LanguageStreams, openKyutaiModel } from './model.ts'
import { readScript } from './script.ts'
import { voiceSuffix } from './voice-file.ts'
import { findVoice, joinVoices } from './voices.ts'
import { type HandedWord, initialPadding } from './words.ts'

const engineOptions = neuralOptions.extend({
  /** Where the voices lie, the preferred folder first. */
  voices: z.array(z.string().min(1)).default([]),
  /** Codebooks of a frame; the model's own number by default. */
  codebooks: z.int().min(1).max(256).optional(),
})

/** The guidance where a request names none: the authors' own. */
const usualGuidance = 2

/** More characters of a chunk are not read better. */
const mostCharacters = 250

interface Streams {
  readonly language: LanguageStreams
  readonly memory: VoiceMemory
  readonly decoder: FrameDecoder
}

/** An engine for the model in a folder; nothing is read before `load`. */
export function createEngine(options: Readonly<Record<string, unknown>>): SpeechEngine {
  const settings = parseEngineOptions('kyutai-tts', engineOptions, options)
  return createNeuralEngine<KyutaiModel, Streams, VoiceEmbedding>({
    id: 'kyutai-tts',
    title: 'Kyutai TTS',
    open: (signal) => openKyutaiModel(settings, signal),
    openStreams: (model) => ({
      language: model.openStreams(),
      memory: model.openMemory(),
      decoder: model.openDecoder(),
    }),
    measurePace: paceOf,
    sampleRateOf: ({ configuration }) => configuration.codec.sample_rate,
    capabilitiesOf,
    makeVoice: ({ configuration }, source) => findVoice(source, configuration.model, settings.voices),
    joinVoices,
    bytesOf: ({ data }) => data.reduce((sum, { byteLength }) => sum + byteLength, 0),
    speak,
  })
}

async function* speak({
  model,
  streams,
  voice,
  request,
  signal,
}: Utterance<KyutaiModel, Streams, VoiceEmbedding>): AsyncGenerator<Float32Array, void, undefined> {
  const { configuration, conditions, tokenizer } = model
  const { frame_rate: frameRate } = configuration.codec
  // The model knows the first speaker of a script and the other one.
  const turns = (request.speaker ?? 0) % 2 === 0 ? [request.text] : ['', request.text]
  const { entries, written } = readScript(turns, tokenizer, { frameRate })
  // A text of marks alone has no words: nothing is spoken.
  if (entries.length === 0) return
  const chooser = createChooser(configuration.model, { seed: request.seed })
  signal?.throwIfAborted()
  const memory = await streams.memory.of(voice)
  const condition = conditions.sum(request.cfg_coef ?? usualGuidance)
  const { onWords } = request
  const tellWords = onWords && createWordTimes(written, (step) => (step - initialPadding) / frameRate, onWords)
  const frames = generateFrames(model, streams.language, { entries, condition, memory }, chooser, {
    signal,
    ...(tellWords && { onWords: tellWords }),
  })
  // The first frames come before any word, and can click.
  yield* decodeFrames(streams.decoder, frames, { unheard: initialPadding })
}

/** Words without sense, more than the timed frames read. */
const words = Array.from({ length: 8 }, () => ({ text: '', tokens: [4], padding: 0 }))

async function paceOf(model: KyutaiModel, { language, memory }: Streams): Promise<number> {
  const { configuration, geometry } = model
  const { dim } = configuration.model.conditioners.speaker_wavs.tensor
  // A voice of the published length, so that its place is ready when the first request comes.
  const voice = { key: '', frames: usualVoiceFrames, data: [new Float32Array(dim * usualVoiceFrames)] }
  const condition = model.conditions.sum(usualGuidance)
  const utterance = { entries: words, condition, memory: await memory.of(voice) }
  const chooser = createChooser(configuration.model, { greedy: true })
  const frames = generateFrames(model, language, utterance, chooser)
  return measurePace(frames, geometry.samplesPerFrame / configuration.codec.sample_rate)
}

/** Ten seconds. */
const usualVoiceFrames = 125

function capabilitiesOf(loaded: KyutaiModel | undefined, pace: number): EngineCapabilities {
  return {
    languages: ['English', 'French'],
    wordTimes: 'measured',
    speakers: 2,
    ...(loaded && {
      voiceSuffix: voiceSuffix(loaded.configuration.model),
      pace,
      chunk: chunkLimits(pace, mostCharacters),
    }),
  }
}

/** When each word is heard: the model's own steps tell. */

/**
 * Tells each word once its end is known. Call the result with the words handed out so far and the step of the text's end.
 * `written` holds the word of the text that begins with each handed one: '' where that continues, undefined for a pause.
 * `secondsOf` turns a step into seconds of the sound.
 */
function createWordTimes(
  written: readonly (string | undefined)[],
  secondsOf: (step: number) => number,
  tell: (words: readonly WordTime[]) => void,
): (handed: readonly HandedWord[], endStep: number | undefined) => void {
  let finished = 0
  return (handed, endStep) => {
    const words: WordTime[] = []
    while (finished < handed.length) {
      const text = written[finished]
      let next = finished + 1
      while (written[next] === '') next += 1
      // The last word ends with the text.
      const end = next < written.length ? handed[next]?.step : endStep
      if (end === undefined) break
      if (text !== undefined)
        words.push({ text, start: Math.max(0, secondsOf(handed[finished]!.step)), end: secondsOf(end) })
      finished = next
    }
    if (words.length > 0) tell(words)
  }
}
