/** The other side of `decoder-process.ts`: a codec that decodes in parallel with the language model. */
import { AppError } from '../../../src/errors.ts'
import { serveParent } from '../../../src/process/process.ts'
import type { Decoder, FrameDecoder } from '../../blocks/frame-decoder.ts'
import type { DecoderSource } from './decoder.ts'
import type { CheckedPlan, DecoderMethods, DecoderPlan } from './decoder-process.ts'

/** Decodes for the engine's process, in a module of its own. */
export function serveDecoder<Plan extends DecoderPlan, Frames>(source: DecoderSource<Plan, Frames>): void {
  let decoder: Decoder<Frames> | undefined
  const streams = new Map<number, FrameDecoder<Frames>>()
  serveParent<DecoderMethods<Frames>>({
    async open(plan) {
      decoder = await load(source, plan as CheckedPlan & { readonly plan: Plan })
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

  function signalOf(stream: number): FrameDecoder<Frames> {
    const signal = streams.get(stream) ?? decoder!.open()
    streams.set(stream, signal)
    return signal
  }
}

/** Throws `unavailable` where the codec's file is not the one that the engine has checked. */
async function load<Plan extends DecoderPlan, Frames>(
  source: DecoderSource<Plan, Frames>,
  { plan, identity }: { readonly plan: Plan; readonly identity: string },
): Promise<Decoder<Frames>> {
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
