/** The process in which a codec decodes in parallel with the language model. */
import { AppError } from '../../../src/errors.ts'
import { fileIdentity } from '../../../src/inference/inference.ts'
import { serveParent } from '../../../src/process/process.ts'
import type { Decoder, FrameDecoder } from '../../blocks/frame-decoder.ts'
import { type DecoderMethods, loadCodec } from './codec.ts'

let decoder: Decoder | undefined
const streams = new Map<number, FrameDecoder>()

serveParent<DecoderMethods>({
  async open(codec) {
    decoder = await loadCodec(codec)
    // The session read its weights by their path.
    if ((await fileIdentity(codec.path)) !== codec.identity)
      throw new AppError('unavailable', `${codec.path} was changed since the model was loaded`, {
        details: ['load the model again: start the server anew'],
      })
  },
  async begin({ stream, beginning }) {
    await signalOf(stream).reset(beginning)
  },
  async decode({ stream, begins, frames }) {
    const signal = signalOf(stream)
    if (begins) void signal.reset()
    return signal.decode(frames)
  },
})

function signalOf(stream: number): FrameDecoder {
  const signal = streams.get(stream) ?? decoder!.open()
  streams.set(stream, signal)
  return signal
}
