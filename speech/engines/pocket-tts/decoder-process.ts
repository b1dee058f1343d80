/**
 * The codec's decoder in a process of its own, so that it turns one frame into samples on a second core while the
 * language model makes the next ones on the first.
 */
import type { Child } from '../../../src/process/child.ts'
import { createRevivedChild } from '../../../src/process/revived-child.ts'
import type { Decoder } from './decoder.ts'
import type { DecoderMethods, DecoderPlan } from './decoder-messages.ts'

/** Starts the process and loads the decoder. When it is lost, the signal in flight fails and the next one starts another. */
export async function openDecoderProcess(plan: DecoderPlan): Promise<Decoder> {
  const child = createRevivedChild<DecoderMethods>({
    name: 'The process that decodes the audio',
    module: { beside: import.meta.url, name: './decoder-child' },
    open: plan,
  })
  let streams = 0
  await child.start()

  return {
    open() {
      const stream = ++streams
      /** The process that decodes this signal from its beginning. */
      let mine: Promise<Child<DecoderMethods>> | undefined
      return {
        reset() {
          mine = undefined
        },
        async decode(latents) {
          const begins = mine === undefined
          mine ??= child.start()
          return (await mine).request('decode', { stream, begins, latents })
        },
      }
    },
    close: () => child.close(),
  }
}
