/** The process in which the codec of an engine decodes in parallel with the language model. */
import { AppError } from '../../../src/errors.ts'
import { serveParent } from '../../../src/process/process.ts'
import type { Decoder, FrameDecoder } from '../../blocks/frame-decoder.ts'
import type { DecoderSource } from './decoder.ts'
import type { CheckedPlan, DecoderMethods } from './decoder-process.ts'

/** The decoders by the folders of their engines. */
const sources: Readonly<Record<string, () => Promise<{ readonly decoderSource: unknown }>>> = {
  'kyutai-tts': () => import('../kyutai-tts/codec.ts'),
  'qwen3-tts': () => import('../qwen3-tts/decoder.ts'),
  'pocket-tts': () => import('../pocket-tts/decoder.ts'),
}

let decoder: Decoder<unknown> | undefined
const streams = new Map<number, FrameDecoder<unknown>>()

serveParent<DecoderMethods<unknown>>({
  async open(plan) {
    decoder = await load(plan)
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

function signalOf(stream: number): FrameDecoder<unknown> {
  const signal = streams.get(stream) ?? decoder!.open()
  streams.set(stream, signal)
  return signal
}

/** Throws `unavailable` where the codec's file is not the one that the engine has checked. */
async function load({ engine, plan, identity }: CheckedPlan): Promise<Decoder<unknown>> {
  const source = (await sources[engine]!()).decoderSource as DecoderSource<typeof plan, unknown>
  const file = await source.openFile(plan)
  try {
    const loaded = await source.load(file, plan)
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
