/** The half of the codec that makes samples from codes, any number of frames per call: every stage is causal. */
import {
  add,
  createGraph,
  createWeights,
  rmsNorm,
  type TensorFile,
  type Value,
  type Weights,
} from '../../../src/inference/inference.ts'
import { convolution, convolve, createStreamStates } from '../../blocks/convolution.ts'
import type { StreamingGraph } from '../../blocks/mimi-decoder.ts'
import { sumOfEntries } from '../../blocks/residual-vectors.ts'
import { runTransformer } from '../../blocks/transformer.ts'
import { convNext, snakeBeta, spreadingConvolution, waveBlock } from '../../blocks/wave-blocks.ts'
import type { CodecFile } from './configuration.ts'
import { type CodecBooks, decoderBooks } from './geometry.ts'
import type { GraphOptions } from './language-graphs.ts'
import { decoderShape } from './layers.ts'

/**
 * Input `codes` int64 [frames, groups]; output `audio` [samples, 1], not bound to [-1, 1]. Attention as in `runTransformer`,
 * one row a frame. With `stages` every value on the way is an output, [rows, channels].
 */
export function buildCodecDecoder(file: TensorFile, codec: CodecFile, options: GraphOptions = {}): StreamingGraph {
  const { decoder_config: decoder } = codec
  const graph = createGraph('codec_decoder')
  const weights = createWeights(graph, file)
  const states = createStreamStates(graph)
  const stage = (name: string, value: Value) => {
    // A value has one name: an identity leaves it to the nodes behind.
    if (options.stages)
      graph.output(name, graph.node('Identity', [value]), 'float32', [`${name}_rows`, `${name}_width`])
  }
  const groups = decoder.num_quantizers
  const codes = graph.input('codes', 'int64', ['frames', groups])
  const quantized = latentsOf(weights, decoderBooks(groups), codes)
  stage('quantized', quantized)
  const before = convolution(weights, states, 'decoder.pre_conv.conv', quantized)
  stage('pre_conv', before)
  let signal = transform(before)
  for (const index of decoder.upsampling_ratios.keys()) {
    const spread = spreadingConvolution(weights, `decoder.upsample.${index}.0.conv`, signal)
    stage(`upsample${index}_transposed`, spread)
    signal = convNext(weights, states, `decoder.upsample.${index}.1`, spread)
    stage(`upsample${index}`, signal)
  }
  graph.output('audio', wave(signal), 'float32', ['samples', 1])
  return { model: graph.encode(), states: states.kept }

  function transform(x: Value): Value {
    const name = 'decoder.pre_transformer'
    const shape = decoderShape(codec)
    const linear = (value: Value, part: string) =>
      weights.linear(value, `${name}.${part}.weight`, `${name}.${part}.bias`)
    const layers = runTransformer(weights, shape, linear(x, 'input_proj'))
    for (const [layer, rows] of layers.entries()) stage(`transformer_layer${layer}`, rows)
    const normed = rmsNorm(graph, layers.at(-1)!, shape.epsilon, weights.value(`${name}.norm.weight`))
    const rows = linear(normed, 'output_proj')
    stage('transformer', rows)
    return rows
  }

  function wave(x: Value): Value {
    let made = convolution(weights, states, 'decoder.decoder.0.conv', x)
    stage('decoder0', made)
    const last = decoder.upsample_rates.length + 1
    for (let block = 1; block < last; block++) {
      const inner = (name: string, value: Value) => stage(`decoder${block}_${name}`, value)
      made = waveBlock(weights, states, `decoder.decoder.${block}.block`, made, inner)
      stage(`decoder${block}`, made)
    }
    const active = snakeBeta(weights, `decoder.decoder.${last}`, made)
    return convolution(weights, states, `decoder.decoder.${last + 1}.conv`, active)
  }
}

/** The entries that the codes of each half stand for, projected and added: [frames, latent]. */
function latentsOf(weights: Weights, books: CodecBooks, codes: Value): Value {
  const project = (half: 'first' | 'rest', entries: Value) =>
    convolve(weights, books.projection(half).replace(/\.weight$/, ''), entries)
  const first = project('first', sumOfEntries(weights, books.first, codes, 0))
  const rest = project('rest', sumOfEntries(weights, books.rest, codes, books.first.length))
  return add(weights.graph, first, rest)
}
