/** The process in which the codec's decoder runs beside the language model. */
import { AppError } from '../../../src/errors.ts'
import { type Decoder, serveDecoder } from '../../blocks/frame-decoder.ts'
import { readConfiguration } from './configuration.ts'
import { type DecoderPlan, loadDecoder, openCodecFile } from './decoder.ts'
import { checkCodecFile } from './geometry.ts'

serveDecoder(open)

async function open({ folder, identity }: DecoderPlan): Promise<Decoder<Int32Array>> {
  const file = await openCodecFile(folder)
  try {
    const { codec } = await readConfiguration(folder)
    checkCodecFile(file, codec, false)
    const loaded = await loadDecoder(file, codec)
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
