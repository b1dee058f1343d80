/** The process in which the codec's decoder runs beside the language model. */
import { AppError } from '../../../src/errors.ts'
import { type Decoder, serveDecoder } from '../../blocks/frame-decoder.ts'
import { type DecoderPlan, loadDecoder, openCodecFile } from './codec.ts'
import { readConfiguration } from './configuration.ts'
import { readCodecGeometry } from './geometry.ts'

serveDecoder(open)

async function open({ folder, books, identity }: DecoderPlan): Promise<Decoder<Int32Array>> {
  const configuration = await readConfiguration(folder)
  const file = await openCodecFile(folder, configuration)
  try {
    const loaded = await loadDecoder(file, readCodecGeometry(file, configuration), configuration, books)
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
