/** The tensors that the files of a model must hold, by its configuration. */
import { type ExpectedTensors, partName, type TensorFile, tensorProblems } from '../../../src/inference/inference.ts'
import type { CodecHalf } from '../../blocks/mimi-decoder.ts'
import { findSeanet } from '../../blocks/seanet.ts'
import { checkTensors } from '../neural/model-files.ts'
import type { KyutaiConfiguration } from './configuration.ts'
import {
  codecBooks,
  codecConvolutions,
  codecName,
  codecProjections,
  codecTransformer,
  conditioner,
  tensorNames,
  upsampling,
} from './tensors.ts'

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
  const { dim, card, text_card: textCard, depformer_dim: depth, depformer_low_rank_embeddings: low } = model
  const { speaker_wavs: speaker, cfg, control } = model.conditioners
  const expected: ExpectedTensors = new Map()
  const expect = (name: string, ...shape: number[]) => expected.set(name, shape)

  for (const [name, { lut }] of [
    ['cfg', cfg],
    ['control', control],
  ] as const) {
    expect(conditioner(name, 'embed.weight'), lut.n_bins + 1, lut.dim)
    expect(conditioner(name, 'output_proj.weight'), dim, lut.dim)
  }
  expect(conditioner('cfg', 'learnt_padding'), 1, 1, dim)
  expect(conditioner('speaker_wavs', 'output_proj.weight'), dim, speaker.tensor.dim)
  expect(conditioner('speaker_wavs', 'learnt_padding'), 1, 1, dim)

  expect(`${tensorNames.text}.weight`, textCard + 1, dim)
  expect(`${tensorNames.text}.out1.weight`, dim, dim)
  expect(`${tensorNames.text}.out2.weight`, dim, dim)
  expect(tensorNames.textHead, model.text_card_out ?? textCard, dim)
  expect(tensorNames.lastNorm, 1, 1, dim)
  for (let book = 0; book < model.n_q; book++) expect(tensorNames.codes(book), card + 1, dim)
  for (let layer = 0; layer < model.num_layers; layer++) {
    const name = `transformer.layers.${layer}`
    expectLayer(name, dim, feedForward.backbone, 1, 'gating')
    expect(`${name}.cross_attention.in_proj_weight`, 3 * dim, dim)
    expect(`${name}.cross_attention.out_proj.weight`, dim, dim)
    expect(`${name}.norm_cross.weight`, dim)
    expect(`${name}.norm_cross.bias`, dim)
  }

  expect(`${tensorNames.depthText}.weight`, textCard + 1, low)
  expect(`${tensorNames.depthText}.out1.weight`, depth, low)
  expect(`${tensorNames.depthText}.out2.weight`, depth, low)
  for (let set = 0; set < sets; set++) expect(tensorNames.depthIn(set), depth, dim)
  for (let book = 0; book < model.dep_q; book++) {
    expect(tensorNames.head(book), card, depth)
    if (book === model.dep_q - 1) continue
    expect(tensorNames.depthCodes(book), card + 1, low)
    expect(tensorNames.depthSpread(book), depth, low)
  }
  for (let layer = 0; layer < model.depformer_num_layers; layer++)
    for (let set = 0; set < sets; set++)
      expectLayer(`depformer.layers.${layer}`, depth, feedForward.depth, sets, `gating.${set}`)
  return expected

  function expectLayer(name: string, width: number, inner: number, stacked: number, gating: string): void {
    expect(`${name}.norm1.alpha`, 1, 1, width)
    expect(`${name}.norm2.alpha`, 1, 1, width)
    expect(`${name}.self_attn.in_proj_weight`, stacked * 3 * width, width)
    expect(`${name}.self_attn.out_proj.weight`, stacked * width, width)
    expect(`${name}.${gating}.linear_in.weight`, 2 * inner, width)
    expect(`${name}.${gating}.linear_out.weight`, width, inner)
  }
}

/** The codec's half that makes samples, as its file has it. */
export interface CodecGeometry extends CodecHalf {
  readonly books: number
  /** Samples of one frame. */
  readonly samplesPerFrame: number
}

/** Finds the codec in its file, in the blocks' spelling. Throws an AppError that names the file and all that does not fit. */
export function readCodecGeometry(file: TensorFile, configuration: KyutaiConfiguration): CodecGeometry {
  const { model, codec } = configuration
  const seanet = findSeanet(file.tensors, codecConvolutions)
  const [width] = seanet.channels
  const sizeOf = (name: string, axis: number) => file.tensors.get(name)?.shape[axis] ?? 0
  const layers = codec.transformer.num_layers ?? Math.max(1, countLayers(file))
  const layer = (index: number, part: string) => `${codecTransformer}.layers.${index}.${part}`
  const feedForward = sizeOf(layer(0, 'linear1.weight'), 0)
  const books = codecBooks(model.dep_q)
  const entry = codec.quantizer.dimension ?? sizeOf(books.first[0]!.sums, 1)
  const stride = sizeOf(`${upsampling}.weight`, 2) / 2

  const expected: ExpectedTensors = new Map(seanet.expected)
  const expect = (name: string, ...shape: number[]) => expected.set(name, shape)
  for (const { sums, counts } of [...books.first, ...books.rest]) {
    expect(sums, model.card, entry)
    expect(counts, model.card)
  }
  for (const name of Object.values(codecProjections)) expect(`${name}.weight`, width, entry, 1)
  expect(`${upsampling}.weight`, width, 1, stride * 2)
  for (let index = 0; index < layers; index++) {
    for (const norm of ['norm1', 'norm2'])
      for (const part of ['weight', 'bias']) expect(layer(index, `${norm}.${part}`), width)
    expect(layer(index, 'self_attn.in_proj.weight'), 3 * width, width)
    expect(layer(index, 'self_attn.out_proj.weight'), width, width)
    expect(layer(index, 'linear1.weight'), feedForward, width)
    expect(layer(index, 'linear2.weight'), width, feedForward)
    for (const scale of [1, 2]) expect(layer(index, `layer_scale_${scale}.scale`), width)
  }
  const samplesPerFrame = seanet.ratios.reduce((product, ratio) => product * ratio, stride)
  // Contradictions between sizes that each fit by themselves.
  const fits = tensorProblems(file.tensors, expected).length === 0 && seanet.problems.length === 0
  const others = fits ? contradictions() : seanet.problems
  checkTensors(file, { what: 'the codec of a Kyutai TTS model', expected, others, unused, spell: codecName })
  return {
    transformer: { prefix: codecTransformer, width, layers, feedForward },
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

function countLayers(file: TensorFile): number {
  const layers = [...file.tensors.keys()].flatMap((name) =>
    name.startsWith(`${codecTransformer}.layers.`) ? [Number(name.split('.')[3])] : [],
  )
  return layers.length === 0 ? 0 : Math.max(...layers) + 1
}
