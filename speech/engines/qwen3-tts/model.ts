/** A Qwen3-TTS model made ready: its files checked and opened, its graphs built and loaded. `generation.ts` speaks with it. */
import { join } from 'node:path'
import { AppError } from '../../../src/errors.ts'
import {
  floats,
  openTensorFile,
  type QuantisationPlan,
  type Session,
  type TensorFile,
  toFloats,
} from '../../../src/inference/inference.ts'
import type { FrameDecoder } from '../../blocks/frame-decoder.ts'
import { createRotaryTable } from '../../blocks/positions.ts'
import { createStream, type Stream } from '../../blocks/state-stream.ts'
import { cacheShape, type TransformerShape } from '../../blocks/transformer.ts'
import { openCodec } from '../neural/codec.ts'
import { type ModelOpening, type ModelOptions, openModel } from '../neural/model-opening.ts'
import { codecOf } from './codec-decoder.ts'
import { buildCodecEncoder } from './codec-encoder.ts'
import { type QwenConfiguration, readConfiguration } from './configuration.ts'
import { checkCodecFile, checkModelFile, tensorNames } from './geometry.ts'
import { buildHead, buildPredictor, buildTalker, buildTextProjection } from './language-graphs.ts'
import { encoderShape, predictorShape, talkerShape } from './layers.ts'
import type { PromptTables } from './prompt.ts'
import { buildSpeakerEncoder } from './speaker.ts'
import { openTokenizer, type TextTokenizer } from './tokenizer.ts'

/** Its folder holds `config.json`, `model.safetensors`, the tokenizer's files and `speech_tokenizer/`. */
export interface QwenModelOptions extends ModelOptions {
  /** The name of the configuration file, where a folder holds several. */
  readonly configuration?: string
}

/** The streams of one utterance. */
export interface TalkerStreams {
  readonly talker: Stream
  readonly predictor: Stream
}

export interface QwenModel extends PromptTables {
  readonly configuration: QwenConfiguration
  readonly tokenizer: TextTokenizer
  /** The row of a code of group `group`, from 1. */
  groupRow(group: number, code: number): Float32Array
  /** Inputs `rows`; outputs `hidden` and, of the talker, `logits`. */
  openStreams(): TalkerStreams
  /** The scores of group `group`, from 1, by the predictor's last row. */
  codeScores(group: number, hidden: Float32Array): Promise<Float32Array>
  /** The codec's decoder, for one signal. */
  openDecoder(): FrameDecoder
  /** The vector of a voice from a spectrogram [bands, frames]; its graph is loaded when the first clip comes. */
  speakerVector(mel: { readonly frames: number; readonly data: Float32Array }): Promise<Float32Array>
  /** A stream of the codec's encoder; inputs `audio` and `first`, output `codes`. */
  openEncoderStream(): Promise<Stream>
  close(): Promise<void>
}

/**
 * Opens the model in a folder. Throws an AppError that names the file that is missing, damaged or does not fit the others:
 * `unavailable`, since a request for speech does not contain the model.
 */
export function openQwenModel(options: QwenModelOptions, signal?: AbortSignal): Promise<QwenModel> {
  return openModel((opening) => openFrom(opening, options), signal)
}

async function openFrom(opening: ModelOpening, options: QwenModelOptions): Promise<QwenModel> {
  const { folder, cacheFolder, precision = 'int8', threads = 1 } = options
  const { keep } = opening
  const configuration = await readConfiguration(folder, options.configuration)
  const { model, codec } = configuration
  const hears = model.tts_model_type === 'base'
  const file = keep(await openTensorFile(join(folder, 'model.safetensors')))
  checkModelFile(file, model)
  const codecFile = keep(await openTensorFile(join(folder, 'speech_tokenizer', 'model.safetensors')))
  checkCodecFile(codecFile, codec, hears)
  const tokenizer = await openTokenizer(folder, model)
  const plan = precision === 'int8' ? quantisationPlan(cacheFolder) : undefined
  const quantised = await opening.weightsOf(file, plan)

  const [talker, predictor] = [talkerShape(model), predictorShape(model)]
  const decoder = keep(await openCodec(codecOf(codecFile, codec), options.decoder))
  const talkerSession = await load(buildTalker(quantised, talker), quantised, 'talker', threads)
  const predictorSession = await load(
    buildPredictor(quantised, predictor, talker.width),
    quantised,
    'code_predictor',
    threads,
  )
  const heads: Session[] = []
  for (let group = 1; group < model.talker_config.num_code_groups; group++)
    heads.push(await load(buildHead(quantised, group), quantised, `code_head_${group}`, 1))
  const projection = await load(buildTextProjection(file), file, 'text_projection', threads)
  const firstTable = openTable(file, tensorNames.firstCodes)
  const tables = [firstTable]
  for (let group = 1; group < model.talker_config.num_code_groups; group++)
    tables.push(openTable(file, tensorNames.codes(group)))
  // Sessions read by path; the checks used the open files. A quantised file may be made again by another process
  // meanwhile: it then holds the same.
  await file.requireUnchanged()
  await codecFile.requireUnchanged()
  if (quantised !== file) await opening.release(quantised)
  const rotary = (shape: TransformerShape) => createRotaryTable(shape.headSize, shape.period, 'power')
  const [talkerRotary, predictorRotary] = [rotary(talker), rotary(predictor)]
  let speaker: Promise<Session> | undefined
  let encoder: Promise<() => Stream> | undefined

  return {
    configuration,
    model,
    tokenizer,
    textRows: (ids) => projectRows(file, projection, ids, talker.width),
    codeRow: (id) => firstTable(id),
    groupRow: (group, code) => tables[group]!(code),
    frameRow(codes) {
      const sum = firstTable(codes[0]!)
      for (let group = 1; group < codes.length; group++) {
        const row = tables[group]!(codes[group]!)
        for (let i = 0; i < sum.length; i++) sum[i]! += row[i]!
      }
      return sum
    },
    openStreams: () => ({
      talker: createStream({
        session: talkerSession,
        shape: cacheShape(talker),
        rotary: talkerRotary,
        capacity: 256,
      }),
      predictor: createStream({
        session: predictorSession,
        shape: cacheShape(predictor),
        rotary: predictorRotary,
        capacity: model.talker_config.num_code_groups,
      }),
    }),
    async codeScores(group, hidden) {
      const { logits } = await heads[group - 1]!.run({ hidden: floats([1, hidden.length], hidden) })
      return logits!.data as Float32Array
    },
    openDecoder: () => decoder.open(),
    async speakerVector({ frames, data }) {
      speaker ??= loadSpeaker()
      const mel = floats([data.length / frames, frames], data)
      const { vector } = await (await speaker).run({ mel })
      return (vector!.data as Float32Array).slice()
    },
    async openEncoderStream() {
      encoder ??= loadEncoder()
      return (await encoder)()
    },
    close: opening.close,
  }

  async function loadSpeaker(): Promise<Session> {
    const settings = model.speaker_encoder_config
    if (!settings || !hears) throw new AppError('unavailable', `The model in ${folder} cannot clone voices`)
    const session = await load(buildSpeakerEncoder(file, settings), file, 'speaker_encoder', threads)
    await file.requireUnchanged()
    return session
  }

  async function loadEncoder(): Promise<() => Stream> {
    if (!hears) throw new AppError('unavailable', `The model in ${folder} cannot clone voices`)
    const shape = encoderShape(codec)
    const graph = buildCodecEncoder(codecFile, codec)
    const session = await load(graph.model, codecFile, 'codec_encoder', threads)
    await codecFile.requireUnchanged()
    return () => createStream({ session, states: graph.states, shape: cacheShape(shape), rotary: rotary(shape) })
  }

  function load(graph: Uint8Array, weights: TensorFile, name: string, count: number): Promise<Session> {
    return opening.load(graph, weights, { name, threads: count, frugal: true })
  }
}

/** How the weights are quantised: a file of gigabytes is known by its identity. */
export function quantisationPlan(cacheFolder: string): QuantisationPlan {
  return {
    name: 'qwen3-tts',
    cacheFolder,
    // The graphs that run for every frame on a single row: their time is that of reading their weights.
    keeps:
      /^talker\.(model\.(layers|norm)|codec_head|code_predictor\.(model\.(layers|norm)|lm_head|small_to_mtp_projection))\b/,
    // The matrices that hold all but some hundred thousand of those numbers.
    quantises: /(_proj|codec_head|lm_head\.\d+|small_to_mtp_projection)\.weight$/,
    scales: 'block',
    recognise: 'identity',
  }
}

/** The tables of codes take a hundred megabytes of memory: their rows, sixteen a frame, are read from the file too. */
function openTable(file: TensorFile, name: string): (id: number) => Float32Array {
  const { dtype } = file.tensors.get(name)!
  return (id) => toFloats(file.rowNow(name, id), dtype)
}

/** The text table is a third of the model: its rows are read from the file when they are used. */
async function projectRows(
  file: TensorFile,
  projection: Session,
  ids: readonly number[],
  width: number,
): Promise<readonly Float32Array[]> {
  if (ids.length === 0) return []
  const { shape, dtype } = file.tensors.get(tensorNames.textTable)!
  const textWidth = shape[1]!
  const data = new Float32Array(ids.length * textWidth)
  for (const [index, id] of ids.entries())
    data.set(toFloats(await file.rowBytes(tensorNames.textTable, id, 1), dtype), index * textWidth)
  const { rows } = await projection.run({ embedded: floats([ids.length, textWidth], data) })
  const all = rows!.data as Float32Array
  return ids.map((_, index) => all.slice(index * width, (index + 1) * width))
}
