/** The flow language model: one row per text token or frame of audio in, the condition of the next frame and the end's logit out. */
import { createGraph, type GraphOptions, type TensorFile } from '../../../src/inference/inference.ts'
import { kyutaiLayers, runTransformer, type TransformerShape } from '../../blocks/transformer.ts'
import type { PocketConfiguration } from './configuration.ts'
import type { PocketGeometry } from './geometry.ts'

/** Sizes from the weights, the rest from the configuration. */
export function languageModelShape(geometry: PocketGeometry, configuration: PocketConfiguration): TransformerShape {
  return { ...geometry.languageModel, ...configuration.languageModel, ...kyutaiLayers(configuration.gelu) }
}

/**
 * Inputs: `embeddings` [n, width], the rows of a voice or a text, then `latents` [m, latent]; either may be empty.
 * Outputs for all n + m rows: `hidden` [rows, width] and `end` [rows, 1]; attention as in `runTransformer`.
 */
export function buildLanguageModel(
  file: TensorFile,
  shape: TransformerShape,
  latent: number,
  options?: GraphOptions,
): Uint8Array {
  const graph = createGraph('flow_lm', file, options)
  const embeddings = graph.input('embeddings', 'float32', ['embedded', shape.width])
  const latents = graph.input('latents', 'float32', ['frames', latent])
  const rows = graph.concat(0, embeddings, graph.linear(latents, 'flow_lm.input_linear.weight'))
  const made = runTransformer(graph, shape, rows)
  const hidden = graph.layerNorm(
    made,
    shape.epsilon,
    graph.weight('flow_lm.out_norm.weight'),
    graph.weight('flow_lm.out_norm.bias'),
  )
  graph.output('hidden', hidden, 'float32', ['rows', shape.width])
  graph.output('end', graph.linear(hidden, 'flow_lm.out_eos.weight', 'flow_lm.out_eos.bias'), 'float32', ['rows', 1])
  return graph.encode()
}
