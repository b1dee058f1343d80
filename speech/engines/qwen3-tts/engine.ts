/**
 * The engine of server A: Qwen3-TTS (0.6 and 1.7 billion parameters, 24 kHz, ten languages) on the processor, from the files
 * its authors publish. See `model-folder.ts` for where they lie.
 */
import { AppError } from '../../../src/errors.ts'
import type { FrameDecoder } from '../../blocks/frame-decoder.ts'
import type { EngineCapabilities, SingleVoice, SpeechEngine } from '../engine.ts'
import { createNeuralEngine, neuralOptions, parseEngineOptions, type Utterance } from '../neural/engine.ts'
import { chunkLimits, measurePace } from '../neural/pace.ts'
import { createChooser } from './choice.ts'
import { generateFrames } from './generation.ts'
import { openQwenModel, type QwenModel, type TalkerStreams } from './model.ts'
import { assemblePrompt, type PromptVoice, presetId } from './prompt.ts'
import { beginningOf, cloneVoice, decodeCodes } from './voices.ts'

interface Streams {
  readonly language: TalkerStreams
  readonly decoder: FrameDecoder
}

interface QwenVoice {
  readonly voice: PromptVoice
  /** The description of a designed voice: the model reads it as an instruction. */
  readonly description?: string
}

/** An engine for the model in a folder; nothing is read before `load`. */
export function createEngine(options: Readonly<Record<string, unknown>>): SpeechEngine {
  const settings = parseEngineOptions('qwen3-tts', neuralOptions, options)
  return createNeuralEngine<QwenModel, Streams, QwenVoice>({
    id: 'qwen3-tts',
    title: 'Qwen3-TTS',
    open: (signal) => openQwenModel(settings, signal),
    openStreams: (model) => ({ language: model.openStreams(), decoder: model.openDecoder() }),
    measurePace: paceOf,
    sampleRateOf: ({ configuration }) => configuration.codec.output_sample_rate,
    capabilitiesOf,
    makeVoice,
    bytesOf({ voice }) {
      if (voice.kind !== 'clone') return 0
      return (voice.spoken?.codes ?? []).reduce((sum, codes) => sum + codes.byteLength, voice.vector.byteLength)
    },
    // The decoder keeps a recording that it has decoded.
    async warmUp({ model, streams, key, voice }) {
      const beginning = beginningOf(model, voice.voice, key)
      if (beginning) await streams.decoder.reset(beginning)
    },
    speak,
  })
}

/** A voice that the model knows by its name or description, or that it hears. */
async function makeVoice(model: QwenModel, source: SingleVoice, signal: AbortSignal | undefined): Promise<QwenVoice> {
  const kind = model.model.tts_model_type
  if (source.kind === 'preset') {
    if (kind !== 'custom_voice') throw cannot('has no preset voices', 'a customvoice variant has them')
    // Refused before a text comes.
    presetId(model.model, source.voice)
    return { voice: { kind: 'preset', name: source.voice } }
  }
  if (source.kind === 'file') throw cannot('reads no voice files', 'clone a recording with a base variant')
  if (source.kind === 'clone') {
    if (kind !== 'base') throw cannot('cannot clone voices', 'the base variants can')
    return { voice: await cloneVoice(model, source, signal) }
  }
  if (kind !== 'voice_design') throw cannot('makes no voice from a description', 'variant voicedesign-1.7b does')
  return { voice: { kind: 'design' }, description: source.description }
}

function paceOf(model: QwenModel, { language, decoder }: Streams): Promise<number> {
  const { samplesPerFrame, codec } = model.configuration
  const row = model.codeRow(0)
  const prompt = { rows: [row], trailing: [], rest: new Float32Array(row.length), ids: 1 }
  // Always the same code: no time is lost in choosing.
  const chooser = { first: () => 0, note: () => undefined, other: () => 0 }
  const frames = decodedBeside(generateFrames(model, language, prompt, chooser), decoder)
  return measurePace(frames, samplesPerFrame / codec.output_sample_rate)
}

/** The frames, each decoded while the next one is made. */
async function* decodedBeside(frames: AsyncIterable<Int32Array>, decoder: FrameDecoder): AsyncGenerator<Int32Array> {
  let decoding: Promise<unknown> | undefined
  try {
    for await (const frame of frames) {
      await decoding
      decoding = decoder.decode(frame)
      yield frame
    }
  } finally {
    await decoding
  }
}

async function* speak({
  model,
  streams,
  key,
  voice: prepared,
  request,
  signal,
}: Utterance<QwenModel, Streams, QwenVoice>): AsyncGenerator<Float32Array, void, undefined> {
  const { voice } = prepared
  const prompt = await assemblePrompt(model, {
    text: request.text,
    voice,
    language: request.language,
    instruct: instructionOf(model, prepared, request.instruct),
    // As in the authors' program: the text goes along with the frames where a recording gives the voice.
    wholeText: voice.kind !== 'clone',
  })
  const { generation, model: file } = model.configuration
  const chooser = createChooser(generation, file.talker_config, { seed: request.seed })
  const frames = generateFrames(model, streams.language, prompt, chooser, { signal })
  yield* decodeCodes(model, streams.decoder, frames, beginningOf(model, voice, key))
}

function cannot(what: string, instead: string): AppError {
  return new AppError('unavailable', `The installed Qwen3-TTS model ${what}`, { details: [instead] })
}

/** A designed voice is described; a preset can be instructed, but by the small model, which was not trained to follow. */
function instructionOf(
  { model }: QwenModel,
  { description }: QwenVoice,
  instruct: string | undefined,
): string | undefined {
  if (description !== undefined) return instruct ? `${description}\n${instruct}` : description
  return canBeInstructed(model) ? instruct : undefined
}

function canBeInstructed({ tts_model_type: type, tts_model_size: size }: QwenModel['model']): boolean {
  return type === 'voice_design' || (type === 'custom_voice' && size !== '0b6')
}

function capabilitiesOf(loaded: QwenModel | undefined, pace: number): EngineCapabilities {
  return {
    languages: loaded ? languagesOf(loaded) : [],
    ...(loaded && { pace, chunk: chunkLimits(pace, loaded.model.tts_model_size === '0b6' ? 250 : 150) }),
  }
}

/** The model's languages; dialects are chosen by their speakers. */
function languagesOf({ model: { talker_config: talker } }: QwenModel): string[] {
  return Object.keys(talker.codec_language_id)
    .filter((name) => !name.endsWith('_dialect'))
    .map((name) => name.charAt(0).toUpperCase() + name.slice(1))
}
