/** The decoder of the mimi codec (Défossez et al. 2024, arXiv:2410.00037): latents in, samples out, any number of frames per call. */

import {
  createGraph,
  type GeluForm,
  type Graph,
  type GraphOptions,
  type StreamingGraph,
  type TensorFile,
  type Value,
} from '../../src/inference/inference.ts'
import { depthwiseTransposedConvolution } from './convolution.ts'
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

/** The decoder of one model. */
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
