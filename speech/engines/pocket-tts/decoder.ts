/** The codec's decoder as the loop uses it: latents of whole frames in, samples out. */
import { join } from 'node:path'
import { openTensorFile, type TensorFile } from '../../../src/inference/inference.ts'
import type { Decoder } from '../../blocks/frame-decoder.ts'
import { buildMimiDecoder, decoderShape } from '../../blocks/mimi-decoder.ts'
import { createRotaryTable } from '../../blocks/positions.ts'
import { cacheShape } from '../../blocks/transformer.ts'
import { type DecoderPlan, type DecoderSource, loadCodec } from '../neural/decoder.ts'
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

/** Loads the decoder into this process. */
function loadDecoder(
  file: TensorFile,
  geometry: PocketGeometry,
  configuration: PocketConfiguration,
): Promise<Decoder<Float32Array>> {
  const shape = decoderShape(geometry, configuration)
  const { latent, decoder } = geometry
  return loadCodec({
    file,
    graph: buildMimiDecoder(file, geometry, shape),
    options: { name: 'mimi_decoder' },
    shape: cacheShape(shape, configuration.mimi.context),
    rotary: createRotaryTable(shape.headSize, shape.period),
    feed(latents: Float32Array) {
      const frames = latents.length / latent
      const input = { type: 'float32' as const, shape: [frames, latent], data: latents }
      return { inputs: { latents: input }, rows: frames * decoder.stride }
    },
  })
}

/** The decoder by the model's folder: its codec is in the file of the language model. */
export const decoderSource: DecoderSource<PocketDecoderPlan, Float32Array> = {
  engine: 'pocket-tts',
  openFile: ({ folder }) => openTensorFile(join(folder, 'model.safetensors')),
  async load(file, { folder, overrides }) {
    const geometry = readGeometry(file)
    return loadDecoder(file, geometry, overridden(await readConfiguration(folder, geometry), overrides))
  },
}
