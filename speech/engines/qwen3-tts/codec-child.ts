/** The process in which the codec's decoder runs beside the language model. */
import { type Decoder, loadFromFile, serveDecoder } from '../../blocks/frame-decoder.ts'
import { readConfiguration } from './configuration.ts'
import { type DecoderPlan, loadDecoder, openCodecFile } from './decoder.ts'
import { checkCodecFile } from './geometry.ts'

serveDecoder(open)

async function open({ folder, identity }: DecoderPlan): Promise<Decoder<Int32Array>> {
  const file = await openCodecFile(folder)
  return loadFromFile(file, identity, async () => {
    const { codec } = await readConfiguration(folder)
    checkCodecFile(file, codec, false)
    return loadDecoder(file, codec)
  })
}
