/** The codec's decoder as the loop uses it: latents of whole frames in, samples out. */
import { join } from 'node:path'
import { floats, openTensorFile, type TensorFile } from '../../../src/inference/inference.ts'
import { convolve } from '../../blocks/convolution.ts'
import type { Decoder } from '../../blocks/frame-decoder.ts'
import { buildMimiDecoder, codecShape, type MimiDecoder } from '../../blocks/mimi-decoder.ts'
import { createRotaryTable } from '../../blocks/positions.ts'
import { cacheShape } from '../../blocks/transformer.ts'
import { type DecoderSource, loadCodec } from '../neural/decoder.ts'
import type { DecoderPlan } from '../neural/decoder-process.ts'
import {
  type ConfigurationOverrides,
  overridden,
  type PocketConfiguration,
  readConfiguration,
} from './configuration.ts'
import { type PocketGeometry, readGeometry } from './geometry.ts'

/** Which decoder to load. */
export interface PocketDecoderPlan extends DecoderPlan {
  readonly overrides: ConfigurationOverrides
}

/** The decoder of a model: input `latents` [frames, latent], normalised. */
export function mimiDecoderOf(geometry: PocketGeometry, configuration: PocketConfiguration): MimiDecoder {
  const { latent, decoder } = geometry
  return {
    name: 'mimi_decoder',
    seanet: decoder.seanet,
    shape: codecShape(decoder, configuration),
    upsample: 'mimi.upsample.convtr.convtr',
    stage: 'quantizer',
    latents(graph) {
      const latents = graph.input('latents', 'float32', ['frames', latent])
      const spread = graph.multiply(latents, graph.weight('flow_lm.emb_std'))
      const centred = graph.add(spread, graph.weight('flow_lm.emb_mean'))
      return convolve(graph, 'mimi.quantizer.output_proj', centred)
    },
  }
}

/** Loads the decoder into this process. */
function loadDecoder(
  file: TensorFile,
  geometry: PocketGeometry,
  configuration: PocketConfiguration,
): Promise<Decoder<Float32Array>> {
  const decoder = mimiDecoderOf(geometry, configuration)
  const { shape } = decoder
  return loadCodec({
    file,
    graph: buildMimiDecoder(file, decoder),
    options: { name: 'mimi_decoder' },
    shape: cacheShape(shape, configuration.mimi.context),
    rotary: createRotaryTable(shape.headSize, shape.period),
    feed(latents: Float32Array) {
      const frames = latents.length / geometry.latent
      return { inputs: { latents: floats([frames, geometry.latent], latents) }, rows: frames * geometry.decoder.stride }
    },
  })
}

/** The decoder by the model's folder: its codec is in the file of the language model. */
export const decoderSource: DecoderSource<PocketDecoderPlan, Float32Array> = {
  module: { beside: import.meta.url, name: './pocket-decoder-child' },
  openFile: ({ folder }) => openTensorFile(join(folder, 'model.safetensors')),
  async load(file, { folder, overrides }) {
    const geometry = readGeometry(file)
    return loadDecoder(file, geometry, overridden(await readConfiguration(folder, geometry), overrides))
  },
}
