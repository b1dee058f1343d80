/** A Qwen3-TTS model made ready: its files checked and opened, its graphs built and loaded. `generation.ts` speaks with it. */
import { join } from 'node:path'
import { AppError } from '../../../src/errors.ts'
import {
  createGraph,
  floats,
  openTensorFile,
  type QuantisationPlan,
  type Session,
  type TensorFile,
} from '../../../src/inference/inference.ts'
import { once } from '../../../src/process/process.ts'
import { joinSamples } from '../../audio/sample-queue.ts'
import { createRotaryTable } from '../../blocks/positions.ts'
import { createStream, type Stream } from '../../blocks/state-stream.ts'
import { cacheShape, runTransformer, type TransformerShape } from '../../blocks/transformer.ts'
import { openCodec } from '../neural/codec.ts'
import type { ModelOptions } from '../neural/engine.ts'
import { type ModelOpening, openModel } from '../neural/model-opening.ts'
import { codecOf } from './codec-decoder.ts'
import { buildCodecEncoder } from './codec-encoder.ts'
import { readConfiguration } from './configuration.ts'
import { checkCodecFile, checkModelFile, tensorNames } from './geometry.ts'
import { encoderShape, predictorShape, talkerShape } from './layers.ts'
import type { logMel } from './mel.ts'
import { buildSpeakerEncoder } from './speaker.ts'
import { openTokenizer } from './tokenizer.ts'

/** Its folder holds `config.json`, `model.safetensors`, the tokenizer's files and `speech_tokenizer/`. */
export interface QwenModelOptions extends ModelOptions {
  /** The name of the configuration file, where a folder holds several. */
  readonly configuration?: string
}

export type QwenModel = Awaited<ReturnType<typeof openFrom>>

export type TalkerStreams = ReturnType<QwenModel['openStreams']>

/** Opens the model in a folder; throws as `openModel`. */
export function openQwenModel(options: QwenModelOptions, signal?: AbortSignal): Promise<QwenModel> {
  return openModel((opening) => openFrom(opening, options), signal)
}

async function openFrom(opening: ModelOpening, options: QwenModelOptions) {
  const { folder, threads = 1 } = options
  const { keep } = opening
  const configuration = await readConfiguration(folder, options.configuration)
  const { model, codec } = configuration
  const groups = model.talker_config.num_code_groups
  const hears = model.tts_model_type === 'base'
  const file = keep(await openTensorFile(join(folder, 'model.safetensors')))
  checkModelFile(file, model)
  const codecFile = keep(await openTensorFile(join(folder, 'speech_tokenizer', 'model.safetensors')))
  checkCodecFile(codecFile, codec, hears)
  const tokenizer = await openTokenizer(folder, model)
  const quantised = await opening.weightsOf(file, options, quantisation)

  const [talker, predictor] = [talkerShape(model), predictorShape(model)]
  const decoder = keep(await openCodec(codecOf(codecFile, codec), options.decoder))
  const talkerSession = await load(buildTalker(quantised, talker), quantised, 'talker')
  const predictorGraph = buildPredictor(quantised, predictor, talker.width)
  const predictorSession = await load(predictorGraph, quantised, 'code_predictor')
  const heads: Session[] = []
  for (let group = 1; group < groups; group++)
    heads.push(await load(buildHead(quantised, group), quantised, `code_head_${group}`, 1))
  const projection = await load(buildTextProjection(file), file, 'text_projection')
  await opening.settle([file, codecFile], quantised)
  const rotary = (shape: TransformerShape) => createRotaryTable(shape.headSize, shape.period, 'power')
  const [talkerRotary, predictorRotary] = [rotary(talker), rotary(predictor)]
  const speaker = once(loadSpeaker)
  const encoder = once(loadEncoder)
  // The tables of codes take a hundred megabytes of memory: their rows, sixteen a frame, are read from the file.
  const codeRow = (id: number) => file.row(tensorNames.firstCodes, id)
  const groupRow = (group: number, code: number) => file.row(tensorNames.codes(group), code)

  return {
    configuration,
    model,
    tokenizer,
    /** The projected rows of text ids; the text table is a third of the model, and read like those of codes. */
    async textRows(ids: readonly number[]): Promise<readonly Float32Array[]> {
      if (ids.length === 0) return []
      const embedded = joinSamples(ids.map((id) => file.row(tensorNames.textTable, id)))
      const { rows } = await projection.run({ embedded: floats([ids.length, embedded.length / ids.length], embedded) })
      const all = rows!.data as Float32Array
      return ids.map((_, index) => all.slice(index * talker.width, (index + 1) * talker.width))
    },
    codeRow,
    /** The row of a code of group `group`, from 1. */
    groupRow,
    frameRow(codes: ArrayLike<number>): Float32Array {
      const sum = codeRow(codes[0]!)
      for (let group = 1; group < codes.length; group++) {
        const row = groupRow(group, codes[group]!)
        for (let i = 0; i < sum.length; i++) sum[i]! += row[i]!
      }
      return sum
    },
    /** Inputs `rows`; outputs `hidden` and, of the talker, `logits`. */
    openStreams: () => ({
      talker: createStream({ session: talkerSession, shape: cacheShape(talker), rotary: talkerRotary, capacity: 256 }),
      predictor: createStream({
        session: predictorSession,
        shape: cacheShape(predictor),
        rotary: predictorRotary,
        capacity: groups,
      }),
    }),
    /** The scores of group `group`, from 1, by the predictor's last row. */
    async codeScores(group: number, hidden: Float32Array): Promise<Float32Array> {
      const { logits } = await heads[group - 1]!.run({ hidden: floats([1, hidden.length], hidden) })
      return logits!.data as Float32Array
    },
    openDecoder: () => decoder.open(),
    /** The vector of a voice from a spectrogram [bands, frames]; its graph is loaded when the first clip comes. */
    async speakerVector({ frames, data }: ReturnType<typeof logMel>): Promise<Float32Array> {
      const { vector } = await (await speaker()).run({ mel: floats([data.length / frames, frames], data) })
      return (vector!.data as Float32Array).slice()
    },
    /** A stream of the codec's encoder; inputs `audio` and `first`, output `codes`. */
    openEncoderStream: async () => (await encoder())(),
    close: opening.close,
  }

  async function loadSpeaker(): Promise<Session> {
    const settings = model.speaker_encoder_config
    if (!settings || !hears) throw cannotClone()
    const session = await load(buildSpeakerEncoder(file, settings), file, 'speaker_encoder')
    await file.requireUnchanged()
    return session
  }

  async function loadEncoder(): Promise<() => Stream> {
    if (!hears) throw cannotClone()
    const shape = encoderShape(codec)
    const graph = buildCodecEncoder(codecFile, codec)
    const session = await load(graph.model, codecFile, 'codec_encoder')
    await codecFile.requireUnchanged()
    return () => createStream({ session, states: graph.states, shape: cacheShape(shape), rotary: rotary(shape) })
  }

  function cannotClone(): AppError {
    return new AppError('unavailable', `The model in ${folder} cannot clone voices`)
  }

  function load(graph: Uint8Array, weights: TensorFile, name: string, count = threads): Promise<Session> {
    return opening.load(graph, weights, { name, threads: count, frugal: true })
  }
}

/** How the weights are quantised: a file of gigabytes is known by its identity. */
export const quantisation: Omit<QuantisationPlan, 'cacheFolder'> = {
  name: 'qwen3-tts',
  // The graphs that run for every frame on a single row: their time is that of reading their weights.
  keeps:
    /^talker\.(model\.(layers|norm)|codec_head|code_predictor\.(model\.(layers|norm)|lm_head|small_to_mtp_projection))\b/,
  // The matrices that hold all but some hundred thousand of those numbers.
  quantises: /(_proj|codec_head|lm_head\.\d+|small_to_mtp_projection)\.weight$/,
  scales: 'block',
  recognise: 'identity',
}

/** The graphs of the language model: the talker, the predictor of the other codes with its heads, and the rows of text. */

/** From `rows` [rows, width] the normed `hidden` [rows, width] and the last row's `logits` [1, vocabulary]. */
function buildTalker(file: TensorFile, shape: TransformerShape): Uint8Array {
  const graph = createGraph('talker', file)
  const made = runTransformer(graph, shape, graph.input('rows', 'float32', ['rows', shape.width]))
  const hidden = graph.rmsNorm(made, shape.epsilon, graph.weight('talker.model.norm.weight'))
  graph.output('hidden', hidden, 'float32', ['rows', shape.width])
  const logits = graph.linear(graph.slice(hidden, 0, -1), tensorNames.firstHead)
  graph.output('logits', logits, 'float32', [1, graph.weightShape(tensorNames.firstHead)[0]!])
  return graph.encode()
}

/**
 * Input `rows` [rows, talker width]. Output `hidden` [rows, width] for the heads; attention as in `runTransformer`.
 */
function buildPredictor(file: TensorFile, shape: TransformerShape, talkerWidth: number): Uint8Array {
  const graph = createGraph('code_predictor', file)
  const wide = graph.input('rows', 'float32', ['rows', talkerWidth])
  const { narrowing } = tensorNames
  // Where both widths are the same the file has no projection.
  const rows = graph.hasWeight(narrowing) ? graph.linear(wide, narrowing, narrowing.replace('weight', 'bias')) : wide
  const made = runTransformer(graph, shape, rows)
  const norm = graph.weight('talker.code_predictor.model.norm.weight')
  graph.output('hidden', graph.rmsNorm(made, shape.epsilon, norm), 'float32', ['rows', shape.width])
  return graph.encode()
}

/** Input `hidden` [1, width]; output `logits` [1, codes] of code group `group`, from 1. */
function buildHead(file: TensorFile, group: number): Uint8Array {
  const graph = createGraph('code_head', file)
  const [codes = 0, width = 0] = graph.weightShape(tensorNames.head(group))
  const hidden = graph.input('hidden', 'float32', [1, width])
  graph.output('logits', graph.linear(hidden, tensorNames.head(group)), 'float32', [1, codes])
  return graph.encode()
}

/** Input `embedded` [ids, text width], rows of the text table; output `rows` [ids, talker width]. */
function buildTextProjection(file: TensorFile): Uint8Array {
  const graph = createGraph('text_projection', file)
  const part = (index: number) => `talker.text_projection.linear_fc${index}`
  const [, textWidth = 0] = graph.weightShape(`${part(1)}.weight`)
  const [width = 0] = graph.weightShape(`${part(2)}.weight`)
  const embedded = graph.input('embedded', 'float32', ['ids', textWidth])
  const inner = graph.silu(graph.linear(embedded, `${part(1)}.weight`, `${part(1)}.bias`))
  graph.output('rows', graph.linear(inner, `${part(2)}.weight`, `${part(2)}.bias`), 'float32', ['ids', width])
  return graph.encode()
}
