/** The process in which the codec's decoder runs beside the language model. */
import { join } from 'node:path'
import { AppError } from '../../../src/errors.ts'
import { openTensorFile } from '../../../src/inference/safetensors.ts'
import { serveParent } from '../../../src/process/child-side.ts'
import { overridden, readConfiguration } from './configuration.ts'
import { type Decoder, type FrameDecoder, loadDecoder } from './decoder.ts'
import type { DecoderMethods, DecoderPlan } from './decoder-messages.ts'
import { readGeometry } from './geometry.ts'

let decoder: Decoder | undefined
const streams = new Map<number, FrameDecoder>()

serveParent<DecoderMethods>({
  async open(plan) {
    decoder = await open(plan)
  },
  async decode({ stream, begins, latents }) {
    const frames = streams.get(stream) ?? decoder!.open()
    streams.set(stream, frames)
    if (begins) frames.reset()
    return frames.decode(latents)
  },
})

async function open({ folder, identity, device, overrides }: DecoderPlan): Promise<Decoder> {
  const file = await openTensorFile(join(folder, 'model.safetensors'))
  try {
    const geometry = readGeometry(file)
    const configuration = overridden(await readConfiguration(folder, geometry), overrides)
    const loaded = await loadDecoder(file, geometry, configuration, device)
    await file.requireUnchanged()
    if (file.identity !== identity)
      throw new AppError('unavailable', `${file.path} was changed since the model was loaded`, {
        details: ['load the model again: start the server anew'],
      })
    return loaded
  } finally {
    await file.close()
  }
}
