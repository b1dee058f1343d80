/** The codec's decoder as the loop uses it: latents of whole frames in, samples out. */

import { type TensorFile, weightsFolder } from '../../../src/inference/safetensors.ts'
import { type Device, openSession } from '../../../src/inference/session.ts'
import { type Decoder, frameDecoder } from '../../blocks/frame-decoder.ts'
import { buildMimiDecoder, decoderShape } from '../../blocks/mimi-decoder.ts'
import { createRotaryTable } from '../../blocks/positions.ts'
import { createStream } from '../../blocks/state-stream.ts'
import { cacheShape } from '../../blocks/transformer.ts'
import type { PocketConfiguration } from './configuration.ts'
import type { PocketGeometry } from './geometry.ts'

/** Loads the decoder into this process. */
export async function loadDecoder(
  file: TensorFile,
  geometry: PocketGeometry,
  configuration: PocketConfiguration,
  device: Device,
): Promise<Decoder<Float32Array>> {
  const shape = decoderShape(geometry, configuration)
  const { model, states } = buildMimiDecoder(file, geometry, shape)
  const session = await openSession(model, { name: 'mimi_decoder', device, weightsFolder: weightsFolder(file) })
  const rotary = createRotaryTable(shape.headSize, shape.period)
  const { latent, decoder } = geometry

  return {
    open() {
      const stream = createStream({ session, states, shape: cacheShape(shape, configuration.mimi.context), rotary })
      return frameDecoder(stream, async (latents: Float32Array) => {
        const frames = latents.length / latent
        const input = { type: 'float32' as const, shape: [frames, latent], data: latents }
        const { audio } = await stream.run({ latents: input }, frames * decoder.stride)
        return audio!.data as Float32Array
      })
    },
    close: () => session.close(),
  }
}
