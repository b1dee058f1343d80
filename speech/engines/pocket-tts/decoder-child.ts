/** The process in which the codec's decoder runs beside the language model. */
import { join } from 'node:path'
import { AppError } from '../../../src/errors.ts'
import { openTensorFile } from '../../../src/inference/safetensors.ts'
import { type Decoder, serveDecoder } from '../../blocks/frame-decoder.ts'
import { overridden, readConfiguration } from './configuration.ts'
import { loadDecoder } from './decoder.ts'
import type { DecoderPlan } from './decoder-process.ts'
import { readGeometry } from './geometry.ts'

serveDecoder(open)

async function open({ folder, identity, device, overrides }: DecoderPlan): Promise<Decoder<Float32Array>> {
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
