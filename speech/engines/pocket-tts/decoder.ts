/** The codec's decoder as the loop uses it: latents of whole frames in, samples out. */

import { type TensorFile, weightsFolder } from '../../../src/inference/safetensors.ts'
import { type Device, openSession } from '../../../src/inference/session.ts'
import { buildMimiDecoder, decoderShape } from '../../blocks/mimi-decoder.ts'
import { createRotaryTable } from '../../blocks/positions.ts'
import { createStream } from '../../blocks/state-stream.ts'
import { cacheShape } from '../../blocks/transformer.ts'
import type { PocketConfiguration } from './configuration.ts'
import type { PocketGeometry } from './geometry.ts'

/** One signal at a time, in pieces. Calls are queued in order. */
export interface FrameDecoder {
  /** Begins a new signal. */
  reset(): void
  /** The samples of the next latents [frames × latent]; not bound to [-1, 1]. */
  decode(latents: Float32Array): Promise<Float32Array>
}

/** A loaded decoder, for any number of signals at the same time. */
export interface Decoder {
  open(): FrameDecoder
  close(): Promise<void>
}

/** Loads the decoder into this process. */
export async function loadDecoder(
  file: TensorFile,
  geometry: PocketGeometry,
  configuration: PocketConfiguration,
  device: Device,
): Promise<Decoder> {
  const shape = decoderShape(geometry, configuration)
  const { model, states } = buildMimiDecoder(file, geometry, shape)
  const session = await openSession(model, { name: 'mimi_decoder', device, weightsFolder: weightsFolder(file) })
  const rotary = createRotaryTable(shape.headSize, shape.period)
  const { latent, decoder } = geometry

  return {
    open() {
      const stream = createStream({ session, states, shape: cacheShape(shape, configuration.mimi.context), rotary })
      let last: Promise<unknown> = Promise.resolve()
      return {
        reset() {
          last = last.then(() => stream.reset())
        },
        decode(latents) {
          const samples = last.then(() => run(latents))
          last = samples.catch(() => undefined)
          return samples
        },
      }

      async function run(latents: Float32Array): Promise<Float32Array> {
        const frames = latents.length / latent
        const input = { type: 'float32' as const, shape: [frames, latent], data: latents }
        const { audio } = await stream.run({ latents: input }, frames * decoder.stride)
        return audio!.data as Float32Array
      }
    },
    close: () => session.close(),
  }
}
