/** A pocket-tts model made ready: its files checked and opened, its graphs built and loaded. `generation.ts` speaks with it. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../../src/errors.ts'
import {
  floats,
  openTensorFile,
  type Session,
  type TensorData,
  type TensorFile,
} from '../../../src/inference/inference.ts'
import { once } from '../../../src/process/process.ts'
import { joinSamples } from '../../audio/sample-queue.ts'
import { buildMimiEncoder, codecShape } from '../../blocks/mimi.ts'
import { createRotaryTable } from '../../blocks/positions.ts'
import { createStream, type Stream } from '../../blocks/state-stream.ts'
import { cacheShape } from '../../blocks/transformer.ts'
import { openCodec } from '../neural/codec.ts'
import type { ModelOptions } from '../neural/engine.ts'
import { type ModelOpening, openModel } from '../neural/model-opening.ts'
import type { Tokenizer } from '../neural/sentence-pieces.ts'
import { openTokenizer } from '../neural/tokenizer.ts'
import { codecOf } from './codec.ts'
import { type ConfigurationOverrides, overridden, readConfiguration } from './configuration.ts'
import { buildFlowHead, buildTimeEmbedding } from './flow-head.ts'
import { buildLanguageModel, languageModelShape } from './flow-lm.ts'
import { type PocketGeometry, readGeometry } from './geometry.ts'
import { companionFolders } from './model-folder.ts'

/** Its folder holds `model.safetensors`; `tokenizer.model` lies there or in a companion folder. */
export interface PocketModelOptions extends ModelOptions {
  readonly overrides?: ConfigurationOverrides
}

/** Why a model can or cannot make a voice from a clip: its encoder is there, was published as zeros, or was left out. */
export type CloningState = 'ready' | 'zeros' | 'absent'

export type PocketModel = Awaited<ReturnType<typeof openFrom>>

/** Opens the model in a folder; throws as `openModel`. */
export function openPocketModel(options: PocketModelOptions, signal?: AbortSignal): Promise<PocketModel> {
  return openModel((opening) => openFrom(opening, options), signal)
}

async function openFrom(opening: ModelOpening, options: PocketModelOptions) {
  const { folder, overrides } = options
  const { keep } = opening
  const file = keep(await openTensorFile(join(folder, 'model.safetensors')))
  const geometry = readGeometry(file)
  const configuration = overridden(await readConfiguration(folder, geometry), overrides)
  const tokenizer = await openFittingTokenizer(folder, geometry)
  const cloning = await cloningState(file, geometry)
  const quantised = await opening.weightsOf(file, options, quantisation)

  const languageModel = languageModelShape(geometry, configuration)
  const decoder = keep(await openCodec(codecOf(file, geometry, configuration), options.decoder))
  const sessions = {
    languageModel: await load(buildLanguageModel(quantised, languageModel, geometry.latent), quantised, 'flow_lm'),
    flowHead: await load(buildFlowHead(quantised, geometry, configuration), quantised, 'flow_head'),
  }
  const embedTime = buildTimeEmbedding(file, configuration.head.rmsNormEpsilon, geometry.head.width)
  const times = await timesOf(await load(embedTime, file, 'time_embedding'), configuration.sampling.flowSteps)
  await opening.settle([file], quantised)
  const rotary = createRotaryTable(languageModel.headSize, languageModel.period)
  const encoder = once(loadEncoder)

  return {
    configuration,
    geometry,
    tokenizer,
    cloning,
    languageModel,
    /** Stands for the frame before the first: [latent]. */
    firstLatent: await file.floats('flow_lm.bos_emb'),
    /** The row [width] that newer models put before a voice. */
    rowBeforeVoice: geometry.hasRowBeforeVoice ? await file.floats('flow_lm.bos_before_voice') : undefined,
    /** Rows of the text table, float32 [ids, width]. */
    embed(ids: readonly number[]): TensorData {
      const rows = ids.map((id) => file.row(textTable, id))
      return floats([ids.length, languageModel.width], joinSamples(rows))
    },
    /** A stream of the language model; inputs `embeddings` and `latents`, outputs `hidden` and `end`. */
    openLanguageStream: () =>
      createStream({ session: sessions.languageModel, shape: cacheShape(languageModel), rotary }),
    openDecoder: () => decoder.open(),
    /** A stream of the codec's encoder; its graph is loaded when the first clip comes. */
    openEncoderStream: async () => (await encoder())(),
    /** How the latent moves in flow step `step`: `condition` [1, width], `latent` [1, latent]. */
    async velocity(step: number, condition: TensorData, latent: TensorData): Promise<Float32Array> {
      const { velocity } = await sessions.flowHead.run({ condition, latent, time: times[step]! })
      return velocity!.data as Float32Array
    },
    close: opening.close,
  }

  async function loadEncoder(): Promise<() => Stream> {
    if (!geometry.encoder) throw new AppError('unavailable', `${file.path} has no encoder`)
    const shape = codecShape(geometry.encoder, configuration)
    const graph = buildMimiEncoder(file, geometry.encoder, shape)
    const session = await load(graph.model, file, 'mimi_encoder')
    await file.requireUnchanged()
    const cache = cacheShape(shape, configuration.mimi.context)
    const angles = createRotaryTable(shape.headSize, shape.period)
    return () => createStream({ session, states: graph.states, shape: cache, rotary: angles })
  }

  function load(graph: Uint8Array, weights: TensorFile, name: string): Promise<Session> {
    return opening.load(graph, weights, { name })
  }
}

/**
 * How the weights are quantised: those of the two graphs that run once per frame, on a single row. Their time is that of
 * reading their weights, so these are worth a quarter of their size. The codec works on many rows at once and would lose more
 * than it gained.
 */
const quantisation = {
  name: 'pocket-tts',
  keeps: /^flow_lm\.(transformer|input_linear|out_norm|out_eos|flow_net\.(?!time_embed))\b/,
  // The matrices that hold all but some hundred thousand of those numbers.
  quantises: /\.(in_proj|out_proj|linear1|linear2|cond_embed|adaLN_modulation\.1|mlp\.[02])\.weight$/,
}

const textTable = 'flow_lm.conditioner.embed.weight'

function openFittingTokenizer(folder: string, { textRows }: PocketGeometry): Promise<Tokenizer> {
  const candidates = companionFolders(folder).flatMap((place) => [
    join(place, 'tokenizer.model'),
    join(place, 'tokenizer.json'),
  ])
  const path = candidates.find(existsSync) ?? join(folder, 'tokenizer.model')
  // The last row of the table is padding.
  const stated = `${textTable} has ${textRows} rows, one of them for padding`
  return openTokenizer(path, folder, { expected: textRows - 1, stated })
}

/** The open edition of a model has every tensor name, and zeros for the convolutions that would listen. */
async function cloningState(file: TensorFile, { encoder }: PocketGeometry): Promise<CloningState> {
  if (!encoder) return 'absent'
  for (const name of encoder.seanet.expected.keys())
    if ((await file.bytes(name)).some((byte) => byte !== 0)) return 'ready'
  return 'zeros'
}

/** The mean of both time embeddings for every flow step: they are constants of the sampling scheme. */
async function timesOf(session: Session, steps: number): Promise<TensorData[]> {
  const time = (value: number) => floats([1, 1], Float32Array.of(value))
  const times: TensorData[] = []
  for (let step = 0; step < steps; step++) {
    const made = await session.run({ start: time(step / steps), end: time((step + 1) / steps) })
    const start = made['start_embedding']!
    const end = made['end_embedding']!.data as Float32Array
    const data = (start.data as Float32Array).map((value, index) => (value + end[index]!) / 2)
    times.push(floats(start.shape, data))
  }
  return times
}
