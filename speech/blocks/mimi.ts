/**
 * The mimi codec (Défossez et al. 2024, arXiv:2410.00037). Its decoder: latents in, samples out, any number of frames per call; its
 * encoder with a projection: a reference clip in, rows that give a language model its voice out.
 */

import {
  createGraph,
  type GeluForm,
  type Graph,
  type GraphOptions,
  type StreamingGraph,
  type TensorFile,
  type Value,
} from '../../src/inference/inference.ts'
import { convolve, depthwiseTransposedConvolution } from './convolution.ts'
import { runSeanet, type Seanet } from './seanet.ts'
import {
  type AttentionSetting,
  type CodecShape,
  kyutaiLayers,
  runTransformer,
  type TransformerSize,
} from './transformer.ts'

/** The sizes of one half of a codec; `stride` counts the frames of the transformer for each latent. */
export interface CodecHalf {
  readonly transformer: TransformerSize
  readonly seanet: Seanet
  readonly stride: number
}

/** The settings of a model that both halves of its codec share. */
export interface CodecSettings {
  readonly mimi: AttentionSetting & { readonly dilationBase: number }
  readonly gelu: GeluForm
}

/** The transformer of a half: sizes from the weights, the rest from the configuration. */
export function codecShape({ transformer }: CodecHalf, { mimi, gelu }: CodecSettings): CodecShape {
  return { ...transformer, ...mimi, ...kyutaiLayers(gelu) }
}

export interface MimiDecoder {
  readonly seanet: Seanet
  readonly shape: CodecShape
  /** The tensor of the convolution in front of the transformer, without `.weight`. */
  readonly upsample: string
}

/**
 * Output `audio` [frames × samples per frame, 1], not bound to [-1, 1]. Attention as in `runTransformer`, for frames × stride rows.
 * `latentsOf` declares the input and makes latents [frames, width] of it. With `stages` also `quantizer` (the latents), `upsample`
 * and `transformer` [rows, width].
 */
export function buildMimiDecoder(
  file: TensorFile,
  { seanet, shape, upsample: name }: MimiDecoder,
  options: GraphOptions | undefined,
  latentsOf: (graph: Graph) => Value,
): StreamingGraph {
  const graph = createGraph('mimi_decoder', file, options)
  const quantizer = latentsOf(graph)
  const upsample = depthwiseTransposedConvolution(graph, name, quantizer)
  const transformer = runTransformer(graph, shape, upsample)
  const audio = runSeanet(graph, seanet, shape.dilationBase, transformer)
  graph.output('audio', audio, 'float32', ['samples', 1])
  for (const [part, value] of Object.entries({ quantizer, upsample, transformer })) graph.stage(part, value)
  return graph.encodeStreaming()
}

/** The half of a codec that hears; with the names of the tensors behind its transformer, that of the convolution without `.weight`. */
export interface MimiEncoder extends CodecHalf {
  readonly downsample: string
  /** Projects to the width of the language model. */
  readonly projection: string
}

/**
 * Input `audio` [samples of whole frames, 1], and `first` bool [1]: whether it begins the clip. Output `conditions` [frames,
 * language model width]. With `stages` also `seanet` and `transformer` [rows, width] and `latent` [frames, channels].
 */
export function buildMimiEncoder(
  file: TensorFile,
  { seanet: modules, stride, downsample: name, projection }: MimiEncoder,
  shape: CodecShape,
  options?: GraphOptions,
): StreamingGraph {
  const graph = createGraph('mimi_encoder', file, options)
  const audio = graph.input('audio', 'float32', ['samples', 1])
  const seanet = runSeanet(graph, modules, shape.dilationBase, audio)
  const transformer = runTransformer(graph, shape, seanet)
  const latent = downsample(graph, name, transformer, stride)
  const [width = 0] = graph.weightShape(projection)
  graph.output('conditions', graph.linear(latent, projection), 'float32', ['frames', width])
  for (const [part, value] of Object.entries({ seanet, transformer, latent })) graph.stage(part, value)
  return graph.encodeStreaming()
}

/** The one convolution that does not start from silence: copies of the first sample come before it. */
export function downsample(graph: Graph, name: string, x: Value, stride: number): Value {
  const [, channels = 0, kernel = 0] = graph.weightShape(`${name}.weight`)
  const kept = kernel - stride
  const previous = graph.previous(name, kept, channels)
  const copies = graph.node('Expand', [graph.slice(x, 0, 0, 1), graph.integers(kept, channels)])
  const before = graph.node('Where', [graph.input('first', 'bool', [1]), copies, previous])
  const extended = graph.concat(0, before, x)
  graph.keep(name, graph.slice(extended, 0, -kept))
  return convolve(graph, name, extended, { stride })
}
