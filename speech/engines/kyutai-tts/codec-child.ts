/** The process in which the codec's decoder runs beside the language model. */
import { type Decoder, loadFromFile, serveDecoder } from '../../blocks/frame-decoder.ts'
import { type DecoderPlan, loadDecoder, openCodecFile } from './codec.ts'
import { readConfiguration } from './configuration.ts'
import { readCodecGeometry } from './geometry.ts'

serveDecoder(open)

async function open({ folder, books, identity }: DecoderPlan): Promise<Decoder<Int32Array>> {
  const configuration = await readConfiguration(folder)
  const file = await openCodecFile(folder, configuration)
  return loadFromFile(file, identity, async () =>
    loadDecoder(file, readCodecGeometry(file, configuration), configuration, books),
  )
}
