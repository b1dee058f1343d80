/**
 * The sizes of a pocket-tts model, read from the names and shapes in its weights file, and the check that the file holds
 * exactly the tensors of such a model. Both generations are known: the older has no row in front of the voice.
 */

import {
  type ExpectedTensors,
  type TensorEntry,
  type TensorFile,
  unknownTensors,
} from '../../../src/inference/inference.ts'
import type { CodecHalf } from '../../blocks/mimi.ts'
import { findSeanet } from '../../blocks/seanet.ts'
import type { TransformerSize } from '../../blocks/transformer.ts'
import { readData } from '../../shared/data.ts'
import {
  checkTensors,
  countNumbered,
  expectKyutaiLayers,
  expectTensors,
  type TensorTable,
} from '../neural/model-files.ts'

export type PocketGeometry = ReturnType<typeof readGeometry>

type Table = 'model' | 'rowBeforeVoice' | 'projection' | 'encoder' | 'head' | 'headBlock' | 'time'
const tables = readData<Readonly<Record<Table, TensorTable>>>('engines/pocket-tts/tensors.json')

/** Reads the sizes, or throws one AppError that names the file and every tensor that is missing, unknown or of another shape. */
export function readGeometry(file: TensorFile) {
  const { tensors } = file
  const size = (name: string, axis: number) => tensors.get(name)?.shape[axis] ?? 0
  const languageModel = transformerSize(tensors, 'flow_lm.transformer', size('flow_lm.out_norm.weight', 0))
  const width = size('mimi.quantizer.output_proj.weight', 0)
  const seanet = findSeanet(tensors, 'mimi.decoder.model')
  const stride = size('mimi.upsample.convtr.convtr.weight', 2) / 2
  const encoder = findEncoder(tensors, width)
  const geometry = {
    /** Numbers per latent: one latent is one frame of audio. */
    latent: size('flow_lm.bos_emb', 0),
    /** Rows of the text table; the last one is padding. */
    textRows: size('flow_lm.conditioner.embed.weight', 0),
    languageModel,
    hasRowBeforeVoice: tensors.has('flow_lm.bos_before_voice'),
    head: {
      width: size('flow_lm.flow_net.input_proj.weight', 0),
      blocks: countNumbered(tensors, 'flow_lm.flow_net.res_blocks'),
      frequencies: size('flow_lm.flow_net.time_embed.0.freqs', 0),
    },
    decoder: {
      transformer: transformerSize(tensors, 'mimi.decoder_transformer.transformer', width),
      seanet,
      stride,
    },
    /** Turns a reference clip into a voice; absent where the file was published without it. */
    encoder,
    samplesPerFrame: samplesPerFrameOf({ seanet, stride }),
  }
  const expected = expectedTensors(tensors, geometry)
  // The published files hold nothing else.
  const others = [...unknownTensors(tensors, expected), ...structureProblems(geometry)]
  checkTensors(file, { what: 'a pocket-tts model', expected, others, unused: /./ })
  return geometry
}

type Entries = ReadonlyMap<string, TensorEntry>

function findEncoder(tensors: Entries, width: number) {
  if (![...tensors.keys()].some((name) => /^mimi\.(encoder|encoder_transformer|downsample)\./.test(name)))
    return undefined
  const [channels = 0, , kernel = 0] = tensors.get('mimi.downsample.conv.conv.weight')?.shape ?? []
  return {
    transformer: transformerSize(tensors, 'mimi.encoder_transformer.transformer', width),
    seanet: findSeanet(tensors, 'mimi.encoder.model'),
    stride: kernel / 2,
    downsample: 'mimi.downsample.conv.conv',
    projection: 'flow_lm.speaker_proj_weight',
    /** Numbers per frame that it makes, before the projection to the language model. */
    channels,
  }
}

function transformerSize(tensors: Entries, prefix: string, width: number): TransformerSize {
  const layers = countNumbered(tensors, `${prefix}.layers`)
  return { prefix, width, layers, feedForward: tensors.get(`${prefix}.layers.0.linear1.weight`)?.shape[0] ?? 0 }
}

function expectedTensors(tensors: Entries, geometry: PocketGeometry): ExpectedTensors {
  const { latent, languageModel, textRows, head, decoder, encoder } = geometry
  // The projection of the encoder's output may be there without an encoder.
  const projected = tensors.get('flow_lm.speaker_proj_weight')?.shape[1]
  const sizes = {
    ...{ latent, textRows, width: languageModel.width, mimi: decoder.transformer.width, kernel: decoder.stride * 2 },
    ...{ head: head.width, twice: head.width * 2, thrice: head.width * 3 },
    ...{ frequencies: head.frequencies, waves: head.frequencies * 2 },
    ...{ projected: projected ?? latent, encoderKernel: (encoder?.stride ?? 0) * 2 },
  }
  const expected: ExpectedTensors = new Map([...decoder.seanet.expected, ...(encoder?.seanet.expected ?? [])])
  const expect = (table: TensorTable, ...indices: readonly number[]) =>
    expectTensors(expected, table, sizes, ...indices)
  expect(tables.model)
  if (geometry.hasRowBeforeVoice) expect(tables.rowBeforeVoice)
  if (encoder || projected !== undefined) expect(tables.projection)
  if (encoder) expect(tables.encoder)
  expect(tables.head)
  for (let block = 0; block < head.blocks; block++) expect(tables.headBlock, block)
  for (const end of [0, 1]) expect(tables.time, end)
  expectKyutaiLayers(expected, languageModel, false)
  expectKyutaiLayers(expected, decoder.transformer, true)
  if (encoder) expectKyutaiLayers(expected, encoder.transformer, true)
  return expected
}

/** Contradictions between shapes that each fit by themselves. */
function structureProblems({ decoder, encoder, languageModel, latent }: PocketGeometry): string[] {
  const mimi = decoder.transformer.width
  const problems = [...halfProblems(decoder, [mimi, 1])]
  if (languageModel.layers === 0) problems.push('flow_lm.transformer has no layers')
  if (latent === 0) problems.push('flow_lm.bos_emb is missing or empty')
  if (encoder) {
    problems.push(...halfProblems(encoder, [1, mimi]))
    if (samplesPerFrameOf(encoder) !== samplesPerFrameOf(decoder))
      problems.push('mimi.encoder and mimi.decoder differ in samples per frame')
  }
  return problems
}

function samplesPerFrameOf({ seanet, stride }: Pick<CodecHalf, 'seanet' | 'stride'>): number {
  return seanet.ratios.reduce((product, ratio) => product * ratio, stride)
}

/** The same for one half of the codec, which must take and make so many channels. */
function halfProblems(half: CodecHalf, [input, output]: readonly [number, number]): string[] {
  const { seanet, transformer, stride } = half
  const problems = [...seanet.problems]
  const { name: first = 'SEANet' } = seanet.modules[0] ?? {}
  const { name: last = 'SEANet' } = seanet.modules.at(-1) ?? {}
  if (transformer.layers === 0) problems.push(`${transformer.prefix} has no layers`)
  if (seanet.channels[0] !== input) problems.push(`${first} takes ${seanet.channels[0]} channels, expected ${input}`)
  if (seanet.channels[1] !== output) problems.push(`${last} makes ${seanet.channels[1]} channels, expected ${output}`)
  if (![stride, ...seanet.ratios].every((ratio) => Number.isInteger(ratio) && ratio > 0))
    problems.push(`a re-sampling kernel beside ${first} is not twice as long as a stride`)
  return problems
}
