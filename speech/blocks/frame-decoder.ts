/** A codec's decoder as the loops of engines use it: whole frames in, samples out. */
import { createRecent } from '../shared/recent.ts'
import type { SavedStream, Stream } from './state-stream.ts'

/** The numbers of one frame or several: latents, or codes. */
export type Frames = Float32Array | Int32Array

/** Frames in front of a signal that are not heard, but that its sound follows. */
export interface Beginning {
  /** Equal ones have equal keys: they are decoded once. */
  readonly key: string
  /** Few frames each, for their memory. */
  readonly pieces: readonly Frames[]
}

/** One signal at a time, in pieces. Calls are queued in order. */
export type FrameDecoder = ReturnType<typeof frameDecoder>

/** A loaded decoder, for any number of signals at the same time. */
export interface Decoder {
  open(): FrameDecoder
  close(): Promise<void>
}

/** A signal over a stream of its own: `run` computes the next samples. */
export function frameDecoder(stream: Stream, run: (frames: Frames) => Promise<Float32Array>) {
  let last: Promise<unknown> = Promise.resolve()
  let resets = 0
  const heard = createRecent<SavedStream>(keptBeginnings)
  return {
    /** Begins a new signal; resolves when `beginning` is decoded, which calls of `decode` wait for. */
    reset(beginning?: Beginning) {
      const mine = ++resets
      const begun = last.catch(() => undefined).then(() => begin(beginning, () => mine === resets))
      // Frames after a failed beginning fail too.
      last = begun
      return begun
    },
    /** The samples of the next frames; not bound to [-1, 1]. */
    decode(frames: Frames): Promise<Float32Array> {
      const samples = last.then(() => run(frames))
      last = samples.catch(() => undefined)
      return samples
    },
  }

  async function begin(beginning: Beginning | undefined, isWanted: () => boolean): Promise<void> {
    const known = beginning && heard.get(beginning.key)
    if (known) return stream.restore(known)
    stream.reset()
    if (!beginning) return
    for (const piece of beginning.pieces) {
      // Stops once a later reset waits: the samples would be discarded.
      if (!isWanted()) return
      await run(piece)
    }
    heard.set(beginning.key, stream.save())
  }
}

/** Some megabytes each, in the decoders of large models. */
const keptBeginnings = 4
