/** A codec's decoder as the loops of engines use it: whole frames in, samples out, here or in a process of its own. */
import type { Child } from '../../src/process/child.ts'
import { serveParent } from '../../src/process/child-side.ts'
import { createRevivedChild, type RevivedChildOptions } from '../../src/process/revived-child.ts'
import type { Stream } from './state-stream.ts'

/** One signal at a time, in pieces. Calls are queued in order. `Frames` holds the numbers of one frame or several. */
export interface FrameDecoder<Frames> {
  /** Begins a new signal. */
  reset(): void
  /** The samples of the next frames; not bound to [-1, 1]. */
  decode(frames: Frames): Promise<Float32Array>
}

/** A loaded decoder, for any number of signals at the same time. */
export interface Decoder<Frames> {
  open(): FrameDecoder<Frames>
  close(): Promise<void>
}

/** A signal over a stream of its own: `run` computes the next samples. */
export function frameDecoder<Frames>(
  stream: Stream,
  run: (frames: Frames) => Promise<Float32Array>,
): FrameDecoder<Frames> {
  let last: Promise<unknown> = Promise.resolve()
  return {
    reset() {
      last = last.then(() => stream.reset())
    },
    decode(frames) {
      const samples = last.then(() => run(frames))
      last = samples.catch(() => undefined)
      return samples
    },
  }
}

/** The methods of a decoder's process; `plan` says which decoder to load. */
export interface DecoderMethods<Plan, Frames> {
  readonly open: { readonly input: Plan }
  readonly decode: {
    readonly input: {
      /** One number for each signal decoder. */
      readonly stream: number
      /** True where the frames begin a signal. */
      readonly begins: boolean
      readonly frames: Frames
    }
    readonly result: Float32Array
  }
}

/**
 * Starts a process and loads the decoder there, so that it turns one frame into samples on a second core while the language
 * model makes the next ones on the first. When it is lost, the signal in flight fails and the next one starts another.
 */
export async function openDecoderProcess<Plan, Frames>(
  module: RevivedChildOptions<DecoderMethods<Plan, Frames>>['module'],
  plan: Plan,
): Promise<Decoder<Frames>> {
  type Methods = DecoderMethods<Plan, Frames>
  const child = createRevivedChild<Methods>({ name: 'The process that decodes the audio', module, open: plan })
  let streams = 0
  await child.start()

  return {
    open() {
      const stream = ++streams
      /** The process that decodes this signal from its beginning. */
      let mine: Promise<Child<Methods>> | undefined
      return {
        reset() {
          mine = undefined
        },
        async decode(frames) {
          const begins = mine === undefined
          mine ??= child.start()
          return (await mine).request('decode', { stream, begins, frames })
        },
      }
    },
    close: () => child.close(),
  }
}

/** The process's side: loads what the plan says and decodes for its parent. */
export function serveDecoder<Plan, Frames>(open: (plan: Plan) => Promise<Decoder<Frames>>): void {
  let decoder: Decoder<Frames> | undefined
  const streams = new Map<number, FrameDecoder<Frames>>()
  serveParent<DecoderMethods<Plan, Frames>>({
    async open(plan) {
      decoder = await open(plan)
    },
    async decode({ stream, begins, frames }) {
      const signal = streams.get(stream) ?? decoder!.open()
      streams.set(stream, signal)
      if (begins) signal.reset()
      return signal.decode(frames)
    },
  })
}
