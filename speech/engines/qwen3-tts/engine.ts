/**
 * The engine of server A: Qwen3-TTS (0.6 and 1.7 billion parameters, 24 kHz, ten languages) on the processor, from the files
 * its authors publish. See `model-folder.ts` for where they lie.
 */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { AppError } from '../../../src/errors.ts'
import type { FrameDecoder } from '../../blocks/frame-decoder.ts'
import type { EngineCapabilities, SpeechEngine, SpeechRequest, VoiceHandle, VoiceSource } from '../engine.ts'
import { parseEngineOptions } from '../engine-options.ts'
import { createChooser } from './choice.ts'
import { generateFrames } from './generation.ts'
import { openQwenModel, type QwenModel, type TalkerStreams } from './model.ts'
import { chunkLimits, measurePace } from './pace.ts'
import { assemblePrompt, type PromptVoice, presetNames } from './prompt.ts'
import { beginningOf, cloneVoice, decodeCodes } from './voices.ts'

const engineOptions = z.object({
  /** Holds `config.json`. */
  folder: z.string().min(1),
  /** Where quantised weights are kept between loads. */
  cacheFolder: z.string().min(1),
  precision: z.enum(['int8', 'float32']).default('int8'),
  /** Where the codec decodes: in this process, or beside it on another core. */
  decoder: z.enum(['here', 'process']).default('here'),
  threads: z.int().min(1).max(64).default(1),
})

export type QwenEngineOptions = z.input<typeof engineOptions>

/** The module's side of `EngineModule`: `createQwenEngine` from unchecked options. */
export function createEngine(options: Readonly<Record<string, unknown>>): SpeechEngine {
  return createQwenEngine(parseEngineOptions('qwen3-tts', engineOptions, options))
}

/** The streams of one utterance; one that runs beside another gets its own. */
interface Streams {
  readonly language: TalkerStreams
  readonly decoder: FrameDecoder<Int32Array>
}

interface PreparedVoice {
  readonly voice: PromptVoice
  /** The description of a designed voice: the model reads it as an instruction. */
  readonly description?: string
}

/** Recordings that stay heard: a vector and some hundred codes each. */
const keptVoices = 64

/** An engine for the model in a folder; nothing is read before `load`. */
export function createQwenEngine(options: QwenEngineOptions): SpeechEngine {
  const settings = engineOptions.parse(options)
  const voices = new WeakMap<VoiceHandle, PreparedVoice>()
  const heard = new Map<string, PromptVoice>()
  const idle: Streams[] = []
  let model: QwenModel | undefined
  let pace = 1

  return {
    id: 'qwen3-tts',
    get sampleRate() {
      return model?.configuration.codec.output_sample_rate ?? 24_000
    },
    get capabilities() {
      return capabilitiesOf(model, pace)
    },
    async load(signal) {
      if (model) return
      const loaded = await openQwenModel(settings, signal)
      try {
        const streams = openStreams(loaded)
        pace = await measurePace(loaded, streams.language)
        idle.push(streams)
        model = loaded
      } catch (thrown) {
        await loaded.close()
        throw thrown
      }
    },
    async prepareVoice(source, signal) {
      const handle = { key: keyOf(source) }
      voices.set(handle, await prepare(ready(), handle.key, source, signal))
      return handle
    },
    synthesize: (request, signal) => speak(request, signal),
    async close() {
      const closing = model
      model = undefined
      idle.length = 0
      heard.clear()
      await closing?.close()
    },
  }

  function ready(): QwenModel {
    if (!model) throw new AppError('unavailable', 'The Qwen3-TTS model is not loaded')
    return model
  }

  function openStreams(loaded: QwenModel): Streams {
    return { language: loaded.openStreams(), decoder: loaded.openDecoder() }
  }

  async function prepare(
    loaded: QwenModel,
    key: string,
    source: VoiceSource,
    signal?: AbortSignal,
  ): Promise<PreparedVoice> {
    const kind = loaded.model.tts_model_type
    if (source.kind === 'preset') {
      if (kind !== 'custom_voice') throw cannot('has no preset voices', 'a customvoice variant has them')
      requirePreset(loaded, source.voice)
      return { voice: { kind: 'preset', name: source.voice } }
    }
    if (source.kind === 'design') {
      if (kind !== 'voice_design') throw cannot('makes no voice from a description', 'variant voicedesign-1.7b does')
      return { voice: { kind: 'design' }, description: source.description }
    }
    if (source.kind === 'file') throw cannot('reads no voice files', 'clone a recording with a base variant')
    if (kind !== 'base') throw cannot('cannot clone voices', 'the base variants can')
    const voice = heard.get(key) ?? (await cloneVoice(loaded, source, signal))
    heard.delete(key)
    heard.set(key, voice)
    for (const oldest of heard.keys()) {
      if (heard.size <= keptVoices) break
      heard.delete(oldest)
    }
    await begin(loaded, beginningOf(loaded, voice, key))
    signal?.throwIfAborted()
    return { voice }
  }

  /** Decodes a recording ahead of the first chunk, because a chunk's time is limited; the decoder keeps it. */
  async function begin(loaded: QwenModel, beginning: ReturnType<typeof beginningOf>): Promise<void> {
    if (!beginning) return
    const streams = idle.pop() ?? openStreams(loaded)
    try {
      await streams.decoder.reset(beginning)
    } finally {
      if (model === loaded) idle.push(streams)
    }
  }

  async function* speak(request: SpeechRequest, signal?: AbortSignal): AsyncGenerator<Float32Array, void, undefined> {
    const prepared = voices.get(request.voice)
    if (!prepared) throw new AppError('not_found', 'The voice was not prepared by this engine')
    const loaded = ready()
    const { voice } = prepared
    const prompt = await assemblePrompt(loaded, {
      text: request.text,
      voice,
      language: request.language,
      instruct: instructionOf(loaded, prepared, request.instruct),
      // As in the authors' program: the text goes along with the frames where a recording gives the voice.
      wholeText: voice.kind !== 'clone',
    })
    const { generation, model: file } = loaded.configuration
    const chooser = createChooser(generation, file.talker_config, { seed: request.seed })
    const streams = idle.pop() ?? openStreams(loaded)
    try {
      const frames = generateFrames(loaded, streams.language, prompt, chooser, { signal })
      yield* decodeCodes(loaded, streams.decoder, frames, beginningOf(loaded, voice, request.voice.key))
    } finally {
      if (model === loaded) idle.push(streams)
    }
  }
}

function requirePreset({ model }: QwenModel, voice: string): void {
  const names = presetNames(model)
  if (names.some((name) => name.toLowerCase() === voice.toLowerCase())) return
  throw new AppError('not_found', `Voice "${voice.slice(0, 80)}" not found in the model`, {
    details: [`it has: ${names.join(', ')}`],
  })
}

function cannot(what: string, instead: string): AppError {
  return new AppError('unavailable', `The installed Qwen3-TTS model ${what}`, { details: [instead] })
}

/** A designed voice is described; a preset can be instructed, but by the small model, which was not trained to follow. */
function instructionOf(
  { model }: QwenModel,
  { description }: PreparedVoice,
  instruct: string | undefined,
): string | undefined {
  if (description !== undefined) return instruct ? `${description}\n${instruct}` : description
  return canBeInstructed(model) ? instruct : undefined
}

function canBeInstructed({ tts_model_type: type, tts_model_size: size }: QwenModel['model']): boolean {
  return type === 'voice_design' || (type === 'custom_voice' && size !== '0b6')
}

function keyOf(source: VoiceSource): string {
  if (source.kind === 'preset') return `preset:${source.voice.toLowerCase()}`
  if (source.kind === 'design') return `design:${source.description}`
  if (source.kind === 'file') return `file:${source.path}`
  const { buffer, byteOffset, byteLength } = source.samples
  const hash = createHash('sha256').update(`${source.sampleRate}\n${source.text ?? ''}\n`)
  return `clone:${hash.update(new Uint8Array(buffer, byteOffset, byteLength)).digest('hex')}`
}

function capabilitiesOf(loaded: QwenModel | undefined, pace: number): EngineCapabilities {
  const kind = loaded?.model.tts_model_type
  return {
    languages: loaded ? languagesOf(loaded) : [],
    cloning: kind === 'base' ? 'neural' : 'none',
    design: kind === 'voice_design' ? 'neural' : 'none',
    instruct: loaded ? canBeInstructed(loaded.model) : false,
    streaming: true,
    ...(loaded && { pace, chunk: chunkLimits(pace, loaded.model.tts_model_size !== '0b6') }),
  }
}

/** The model's languages; dialects are chosen by their speakers. */
function languagesOf({ model: { talker_config: talker } }: QwenModel): string[] {
  return Object.keys(talker.codec_language_id)
    .filter((name) => !name.endsWith('_dialect'))
    .map((name) => name.charAt(0).toUpperCase() + name.slice(1))
}
