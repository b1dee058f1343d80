/** The decoder of the mimi codec (Défossez et al. 2024, arXiv:2410.00037): latents in, samples out, any number of frames per call. */
import { createStreamStates, depthwiseTransposedConvolution, type KeptState } from '../onnx/convolution.ts'
import { createGraph } from '../onnx/graph.ts'
import { add, integers, multiply, transpose } from '../onnx/operators.ts'
import type { TensorFile } from '../onnx/safetensors.ts'
import { createWeights } from '../onnx/weights.ts'
import type { PocketConfiguration } from './configuration.ts'
import type { PocketGeometry } from './geometry.ts'
import { runSeanet } from './seanet.ts'
import { runTransformer, type TransformerShape } from './transformer.ts'

/** A graph that runs piece by piece, with what it keeps between pieces. */
export interface StreamingGraph {
  readonly model: Uint8Array
  readonly states: readonly KeptState[]
}

export function decoderShape({ decoder }: PocketGeometry, { mimi, gelu }: PocketConfiguration): TransformerShape {
  return { ...decoder.transformer, ...mimi, gelu }
}

/**
 * Input `latents` [frames, latent] as the flow head makes them; output `audio` [1, 1, frames × samples per frame].
 * Attention as in `runTransformer`, for frames × stride rows. With `stages` also `quantizer`, `upsample` and `transformer`
 * [1, width, rows].
 */
export function buildMimiDecoder(
  file: TensorFile,
  geometry: PocketGeometry,
  shape: TransformerShape,
  options: { readonly stages?: boolean } = {},
): StreamingGraph {
  const graph = createGraph('mimi_decoder')
  const weights = createWeights(graph, file)
  const states = createStreamStates(graph)
  const latents = graph.input('latents', 'float32', ['frames', geometry.latent])
  const spread = multiply(graph, latents, weights.value('flow_lm.emb_std'))
  const centred = add(graph, spread, weights.value('flow_lm.emb_mean'))
  const signal = graph.node('Unsqueeze', [transpose(graph, centred, 1, 0), integers(graph, 0)])
  const quantizer = graph.node('Conv', [signal, weights.value('mimi.quantizer.output_proj.weight')])
  const upsample = depthwiseTransposedConvolution(weights, states, 'mimi.upsample.convtr.convtr', quantizer)
  const rows = transpose(graph, graph.node('Squeeze', [upsample, integers(graph, 0)]), 1, 0)
  const mixed = runTransformer(weights, shape, rows).at(-1)!
  const transformer = graph.node('Unsqueeze', [transpose(graph, mixed, 1, 0), integers(graph, 0)])
  const audio = runSeanet(weights, states, geometry.decoder.seanet, transformer)
  graph.output('audio', audio, 'float32', [1, 1, 'samples'])
  if (options.stages)
    for (const [name, value] of Object.entries({ quantizer, upsample, transformer }))
      graph.output(name, value, 'float32', [1, shape.width, `${name}_rows`])
  return { model: graph.encode(), states: states.kept }
}
