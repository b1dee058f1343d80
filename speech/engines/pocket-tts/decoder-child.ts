/** The process in which the codec's decoder runs beside the language model. */
import { join } from 'node:path'
import { openTensorFile } from '../../../src/inference/safetensors.ts'
import { type Decoder, loadFromFile, serveDecoder } from '../../blocks/frame-decoder.ts'
import { overridden, readConfiguration } from './configuration.ts'
import { loadDecoder } from './decoder.ts'
import type { DecoderPlan } from './decoder-process.ts'
import { readGeometry } from './geometry.ts'

serveDecoder(open)

async function open({ folder, identity, device, overrides }: DecoderPlan): Promise<Decoder<Float32Array>> {
  const file = await openTensorFile(join(folder, 'model.safetensors'))
  return loadFromFile(file, identity, async () => {
    const geometry = readGeometry(file)
    const configuration = overridden(await readConfiguration(folder, geometry), overrides)
    return loadDecoder(file, geometry, configuration, device)
  })
}
