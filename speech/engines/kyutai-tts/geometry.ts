/** The tensors that the files of a model must hold, by its configuration. */
import { type ExpectedTensors, partName, type TensorFile, tensorProblems } from '../../../src/inference/inference.ts'
import type { CodecHalf } from '../../blocks/mimi.ts'
import { findSeanet } from '../../blocks/seanet.ts'
import { readData } from '../../shared/data.ts'
import {
  checkTensors,
  countNumbered,
  expectBooks,
  expectKyutaiLayers,
  expectTensors,
  type TensorTable,
} from '../neural/model-files.ts'
import type { KyutaiConfiguration } from './configuration.ts'
import { codecConvolutions, codecName, codecTransformer, quantizerBooks, upsampling } from './tensors.ts'

type Table =
  | 'model'
  | 'conditioner'
  | 'book'
  | 'layer'
  | 'depthSet'
  | 'head'
  | 'depthBook'
  | 'depthLayer'
  | 'depthGating'
const tables = readData<Readonly<Record<Table, TensorTable>>>('engines/kyutai-tts/tensors.json')

/** Throws an AppError that names the file and the tensors that are missing or of another shape. */
export function checkModelFile(file: TensorFile, configuration: KyutaiConfiguration): void {
  const expected = modelTensors(configuration)
  // A matrix may also be stored as its parts.
  for (const [name, shape] of [...expected]) {
    if (file.tensors.has(name) || !file.tensors.has(partName(name, 0))) continue
    expected.delete(name)
    const [rows = 0, ...rest] = shape
    for (let set = 0; set < configuration.sets; set++)
      expected.set(partName(name, set), [rows / configuration.sets, ...rest])
  }
  checkTensors(file, { what: 'a Kyutai TTS model of the geometry in its config.json', expected, unused })
}

/** Tensors of the published files that no part of this engine needs. */
const unused =
  /^(encoder|downsample|quantizer\.(.*\.input_proj|.*\._initialized|.*\.inited|rvq_rest)|depformer_text_emb\.low_rank|condition_provider)/

/** The tensors of the language model in the published spelling. */
export function modelTensors({ model, feedForward, sets }: KyutaiConfiguration): ExpectedTensors {
  const { dim: width, depformer_dim: depth, conditioners } = model
  const sizes = {
    ...{ width, attention: 3 * width, inner: feedForward.backbone, innerTwice: 2 * feedForward.backbone },
    ...{ depth, depthStacked: sets * depth, depthAttention: 3 * sets * depth },
    ...{
      depthInner: feedForward.depth,
      depthInnerTwice: 2 * feedForward.depth,
      low: model.depformer_low_rank_embeddings,
    },
    ...{ codes: model.card, codeRows: model.card + 1, voice: conditioners.speaker_wavs.tensor.dim },
    ...{ textRows: model.text_card + 1, textOut: model.text_card_out ?? model.text_card },
  }
  const expected: ExpectedTensors = new Map()
  const expect = (table: TensorTable, count: number, ...indices: readonly number[]) => {
    for (let index = 0; index < count; index++) expectTensors(expected, table, sizes, ...indices, index)
  }
  expectTensors(expected, tables.model, sizes)
  for (const name of ['cfg', 'control'] as const) {
    const { n_bins: bins, dim: size } = conditioners[name].lut
    expectTensors(expected, tables.conditioner, { width, size, rows: bins + 1 }, name)
  }
  expect(tables.book, model.n_q)
  expect(tables.layer, model.num_layers)
  expect(tables.depthSet, sets)
  expect(tables.head, model.dep_q)
  expect(tables.depthBook, model.dep_q - 1)
  expect(tables.depthLayer, model.depformer_num_layers)
  for (let layer = 0; layer < model.depformer_num_layers; layer++) expect(tables.depthGating, sets, layer)
  return expected
}

/** The codec's half that makes samples, as its file has it. */
export interface CodecGeometry extends CodecHalf {
  readonly books: number
  readonly samplesPerFrame: number
}

/** Finds the codec in its file, in the blocks' spelling. Throws an AppError that names the file and all that does not fit. */
export function readCodecGeometry(file: TensorFile, configuration: KyutaiConfiguration): CodecGeometry {
  const { model, codec } = configuration
  const seanet = findSeanet(file.tensors, codecConvolutions)
  const [width] = seanet.channels
  const sizeOf = (name: string, axis: number) => file.tensors.get(name)?.shape[axis] ?? 0
  const layers = codec.transformer.num_layers ?? Math.max(1, countNumbered(file.tensors, `${codecTransformer}.layers`))
  const feedForward = sizeOf(`${codecTransformer}.layers.0.linear1.weight`, 0)
  const books = quantizerBooks(model.dep_q)
  const entry = codec.quantizer.dimension ?? sizeOf(books.first[0]!.sums, 1)
  const stride = sizeOf(`${upsampling}.weight`, 2) / 2

  const expected: ExpectedTensors = new Map(seanet.expected)
  expectBooks(expected, books, [model.card, entry], [width, entry])
  expected.set(`${upsampling}.weight`, [width, 1, stride * 2])
  const transformer = { prefix: codecTransformer, width, layers, feedForward }
  expectKyutaiLayers(expected, transformer, true)
  const samplesPerFrame = seanet.ratios.reduce((product, ratio) => product * ratio, stride)
  // Contradictions between sizes that each fit by themselves.
  const fits = tensorProblems(file.tensors, expected).length === 0 && seanet.problems.length === 0
  const others = fits ? contradictions() : seanet.problems
  checkTensors(file, { what: 'the codec of a Kyutai TTS model', expected, others, unused, spell: codecName })
  return {
    transformer,
    seanet,
    stride,
    books: model.dep_q,
    samplesPerFrame,
  }

  function contradictions(): string[] {
    const found: string[] = []
    const { num_heads: heads } = codec.transformer
    const { ratios = seanet.ratios } = codec.seanet
    if (width % (2 * heads) !== 0) found.push(`${heads} heads do not share the width ${width}`)
    if (seanet.channels[1] !== 1) found.push(`it makes ${seanet.channels[1]} channels of sound`)
    if (ratios.join() !== seanet.ratios.join())
      found.push(`${codecConvolutions} re-samples by ${seanet.ratios.join()}, mimi-config.json says ${ratios.join()}`)
    if (Math.abs(codec.sample_rate / samplesPerFrame - codec.frame_rate) > codec.frame_rate / 1000)
      found.push(`a frame has ${samplesPerFrame} samples, which is not ${codec.frame_rate} a second`)
    return found
  }
}
