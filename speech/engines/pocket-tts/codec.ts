/** The codec's decoder: latents of whole frames in, samples out. */
import type { GraphOptions, TensorFile } from '../../../src/inference/inference.ts'
import { convolve } from '../../blocks/convolution.ts'
import { buildMimiDecoder, codecShape } from '../../blocks/mimi.ts'
import type { Codec } from '../neural/codec.ts'
import type { PocketConfiguration } from './configuration.ts'
import type { PocketGeometry } from './geometry.ts'

/** The codec of a model: input `latents` [frames, latent], normalised. Its weights are in the file of the language model. */
export function codecOf(
  file: TensorFile,
  { latent, decoder }: PocketGeometry,
  configuration: PocketConfiguration,
  options?: GraphOptions,
): Codec {
  const shape = codecShape(decoder, configuration)
  const parts = { ...decoder, shape, upsample: 'mimi.upsample.convtr.convtr' }
  const graph = buildMimiDecoder(file, parts, options, (graph) => {
    const latents = graph.input('latents', 'float32', ['frames', latent])
    const spread = graph.multiply(latents, graph.weight('flow_lm.emb_std'))
    const centred = graph.add(spread, graph.weight('flow_lm.emb_mean'))
    return convolve(graph, 'mimi.quantizer.output_proj', centred)
  })
  const { path, identity } = file
  const { context } = configuration.mimi
  const session = { name: 'mimi_decoder' }
  return { path, identity, graph, session, transformer: shape, context, numbers: latent, stride: decoder.stride }
}
