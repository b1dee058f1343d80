/** The decoder of the mimi codec (Défossez et al. 2024, arXiv:2410.00037): latents in, samples out, any number of frames per call. */
import { convolve, createStreamStates, depthwiseTransposedConvolution, type KeptState } from '../onnx/convolution.ts'
import { createGraph } from '../onnx/graph.ts'
import { add, multiply } from '../onnx/operators.ts'
import type { TensorFile } from '../onnx/safetensors.ts'
import { createWeights } from '../onnx/weights.ts'
import type { PocketConfiguration } from './configuration.ts'
import type { PocketGeometry } from './geometry.ts'
import { runSeanet } from './seanet.ts'
import { type CodecShape, runTransformer } from './transformer.ts'

/** A graph that runs piece by piece, with what it keeps between pieces. */
export interface StreamingGraph {
  readonly model: Uint8Array
  readonly states: readonly KeptState[]
}

/** The decoder's transformer: sizes from the weights, the rest from the configuration. */
export function decoderShape({ decoder }: PocketGeometry, { mimi, gelu }: PocketConfiguration): CodecShape {
  return { ...decoder.transformer, ...mimi, gelu }
}

/**
 * Input `latents` [frames, latent] as the flow head makes them; output `audio` [frames × samples per frame, 1].
 * Attention as in `runTransformer`, for frames × stride rows. With `stages` also `quantizer`, `upsample` and `transformer`
 * [rows, width].
 */
export function buildMimiDecoder(
  file: TensorFile,
  geometry: PocketGeometry,
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
