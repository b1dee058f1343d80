/** The decoder of the mimi codec (Défossez et al. 2024, arXiv:2410.00037): latents in, samples out, any number of frames per call. */

import { createGraph } from '../../src/inference/graph.ts'
import type { GeluForm } from '../../src/inference/operators.ts'
import { add, multiply } from '../../src/inference/operators.ts'
import type { TensorFile } from '../../src/inference/safetensors.ts'
import { createWeights } from '../../src/inference/weights.ts'
import { convolve, createStreamStates, depthwiseTransposedConvolution, type KeptState } from './convolution.ts'
import { runSeanet, type Seanet } from './seanet.ts'
import { type AttentionSetting, type CodecShape, runTransformer, type TransformerSize } from './transformer.ts'

/** The sizes of one half of a codec; `stride` counts the frames of the transformer for each latent. */
export interface CodecHalf {
  readonly transformer: TransformerSize
  readonly seanet: Seanet
  readonly stride: number
}

/** The sizes of a decoder; `latent` counts the numbers of one latent, one frame of audio. */
export interface DecoderSizes {
  readonly latent: number
  readonly decoder: CodecHalf
}

/** The settings of a model that both halves of its codec share. */
export interface CodecSettings {
  readonly mimi: AttentionSetting & { readonly dilationBase: number }
  readonly gelu: GeluForm
}

/** A graph that runs piece by piece, with what it keeps between pieces. */
export interface StreamingGraph {
  readonly model: Uint8Array
  readonly states: readonly KeptState[]
}

/** The decoder's transformer: sizes from the weights, the rest from the configuration. */
export function decoderShape({ decoder }: DecoderSizes, { mimi, gelu }: CodecSettings): CodecShape {
  return { ...decoder.transformer, ...mimi, gelu }
}

/**
 * Input `latents` [frames, latent] as the flow head makes them; output `audio` [frames × samples per frame, 1].
 * Attention as in `runTransformer`, for frames × stride rows. With `stages` also `quantizer`, `upsample` and `transformer`
 * [rows, width].
 */
export function buildMimiDecoder(
  file: TensorFile,
  geometry: DecoderSizes,
  shape: CodecShape,
  options: { readonly stages?: boolean } = {},
): StreamingGraph {
  const graph = createGraph('mimi_decoder')
  const weights = createWeights(graph, file)
  const states = createStreamStates(graph)
  const latents = graph.input('latents', 'float32', ['frames', geometry.latent])
  const spread = multiply(graph, latents, weights.value('flow_lm.emb_std'))
  const centred = add(graph, spread, weights.value('flow_lm.emb_mean'))
  const quantizer = convolve(weights, 'mimi.quantizer.output_proj', centred)
  const upsample = depthwiseTransposedConvolution(weights, states, 'mimi.upsample.convtr.convtr', quantizer)
  const transformer = runTransformer(weights, shape, upsample).at(-1)!
  const audio = runSeanet(weights, states, geometry.decoder.seanet, shape.dilationBase, transformer)
  graph.output('audio', audio, 'float32', ['samples', 1])
  if (options.stages)
    for (const [name, value] of Object.entries({ quantizer, upsample, transformer }))
      graph.output(name, value, 'float32', [`${name}_rows`, shape.width])
  return { model: graph.encode(), states: states.kept }
}
