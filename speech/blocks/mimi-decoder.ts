/** The decoder of the mimi codec (Défossez et al. 2024, arXiv:2410.00037): latents in, samples out, any number of frames per call. */

import {
  add,
  createGraph,
  createWeights,
  type GeluForm,
  multiply,
  type TensorFile,
} from '../../src/inference/inference.ts'
import { convolve, createStreamStates, depthwiseTransposedConvolution, type KeptState } from './convolution.ts'
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

/** The names of the tensors in front of a decoder's transformer; those of the convolutions without `.weight` and `.bias`. */
export interface DecoderTensors {
  /** Mean and standard deviation of the latents, which come in normalised. */
  readonly mean: string
  readonly deviation: string
  readonly quantizer: string
  readonly upsample: string
}

/** The sizes of a decoder; `latent` counts the numbers of one latent, one frame of audio. */
export interface DecoderSizes {
  readonly latent: number
  readonly decoder: CodecHalf & { readonly tensors: DecoderTensors }
}

/** The settings of a model that both halves of its codec share. */
export interface CodecSettings {
  readonly mimi: AttentionSetting & { readonly dilationBase: number }
  readonly gelu: GeluForm
}

/** A graph that runs piece by piece, with the states that it keeps between pieces. */
export interface StreamingGraph {
  readonly model: Uint8Array
  readonly states: readonly KeptState[]
}

/** The decoder's transformer: sizes from the weights, the rest from the configuration. */
export function decoderShape({ decoder }: DecoderSizes, { mimi, gelu }: CodecSettings): CodecShape {
  return { ...decoder.transformer, ...mimi, ...kyutaiLayers(gelu) }
}

/**
 * Input `latents` [frames, latent], normalised; output `audio` [frames × samples per frame, 1].
 * Attention as in `runTransformer`, for frames × stride rows. With `stages` also `quantizer`, `upsample` and `transformer`
 * [rows, width].
 */
export function buildMimiDecoder(
  file: TensorFile,
  { latent, decoder }: DecoderSizes,
  shape: CodecShape,
  options: { readonly stages?: boolean } = {},
): StreamingGraph {
  const graph = createGraph('mimi_decoder')
  const weights = createWeights(graph, file)
  const states = createStreamStates(graph)
  const latents = graph.input('latents', 'float32', ['frames', latent])
  const spread = multiply(graph, latents, weights.value(decoder.tensors.deviation))
  const centred = add(graph, spread, weights.value(decoder.tensors.mean))
  const quantizer = convolve(weights, decoder.tensors.quantizer, centred)
  const upsample = depthwiseTransposedConvolution(weights, states, decoder.tensors.upsample, quantizer)
  const transformer = runTransformer(weights, shape, upsample).at(-1)!
  const audio = runSeanet(weights, states, decoder.seanet, shape.dilationBase, transformer)
  graph.output('audio', audio, 'float32', ['samples', 1])
  if (options.stages)
    for (const [name, value] of Object.entries({ quantizer, upsample, transformer }))
      graph.output(name, value, 'float32', [`${name}_rows`, shape.width])
  return { model: graph.encode(), states: states.kept }
}
