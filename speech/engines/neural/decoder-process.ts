/** A codec's decoder in a process of its own; `serve-decoder.ts` is the other side. */
import { type Child, type ChildModule, createRevivedChild } from '../../../src/process/process.ts'
import type { Beginning, Decoder } from '../../blocks/frame-decoder.ts'

/** Which decoder to load. */
export interface DecoderPlan {
  /** The model's folder. */
  readonly folder: string
}

/** Which decoder to load, with the identity of the codec's file that the engine has checked. */
export interface CheckedPlan {
  readonly plan: DecoderPlan
  readonly identity: string
}

/** The methods of a decoder's process. `stream` is one number for each signal. */
export interface DecoderMethods<Frames> {
  readonly open: { readonly input: CheckedPlan }
  readonly begin: { readonly input: { readonly stream: number; readonly beginning: Beginning<Frames> } }
  readonly decode: {
    /** `begins` is true where the frames begin a signal. */
    readonly input: { readonly stream: number; readonly begins: boolean; readonly frames: Frames }
    readonly result: Float32Array
  }
}

/**
 * Starts a process and loads the decoder there, so that it turns one frame into samples on a second core while the language
 * model makes the next ones on the first. When it is lost, the signal in flight fails and the next one starts another.
 */
export async function openDecoderProcess<Frames>(module: ChildModule, plan: CheckedPlan): Promise<Decoder<Frames>> {
  type Methods = DecoderMethods<Frames>
  const child = createRevivedChild<Methods>({
    name: 'The process that decodes the audio',
    module,
    open: plan,
  })
  let streams = 0
  await child.start()

  return {
    open() {
      const stream = ++streams
      /** The process that decodes this signal from its beginning. */
      let mine: Promise<Child<Methods>> | undefined
      return {
        async reset(beginning) {
          mine = beginning && begin(beginning)
          await mine
        },
        async decode(frames) {
          const begins = mine === undefined
          mine ??= child.start()
          return (await mine).request('decode', { stream, begins, frames })
        },
      }

      async function begin(beginning: Beginning<Frames>): Promise<Child<Methods>> {
        const process = await child.start()
        await process.request('begin', { stream, beginning })
        return process
      }
    },
    close: () => child.close(),
  }
}
