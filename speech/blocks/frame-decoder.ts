/** A codec's decoder as the loops of engines use it: whole frames in, samples out, here or in a process of its own. */
import { AppError } from '../../src/errors.ts'
import type { TensorFile } from '../../src/inference/inference.ts'
import { type Child, createRevivedChild, type RevivedChildOptions, serveParent } from '../../src/process/process.ts'
import type { SavedStream, Stream } from './state-stream.ts'

/** Frames in front of a signal that are not heard, but that its sound follows. */
export interface Beginning<Frames> {
  /** Equal ones have equal keys: they are decoded once. */
  readonly key: string
  /** Few frames each, for their memory. */
  readonly pieces: readonly Frames[]
}

/** One signal at a time, in pieces. Calls are queued in order. `Frames` holds the numbers of one frame or several. */
export interface FrameDecoder<Frames> {
  /** Begins a new signal; resolves when `beginning` is decoded, which calls of `decode` wait for. */
  reset(beginning?: Beginning<Frames>): Promise<void>
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
  let resets = 0
  const heard = new Map<string, SavedStream>()
  return {
    reset(beginning) {
      const mine = ++resets
      const begun = last.catch(() => undefined).then(() => begin(beginning, () => mine === resets))
      // Frames after a failed beginning fail too.
      last = begun
      return begun
    },
    decode(frames) {
      const samples = last.then(() => run(frames))
      last = samples.catch(() => undefined)
      return samples
    },
  }

  async function begin(beginning: Beginning<Frames> | undefined, isWanted: () => boolean): Promise<void> {
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
    for (const oldest of heard.keys()) {
      if (heard.size <= keptBeginnings) break
      heard.delete(oldest)
    }
  }
}

/** Some megabytes each, in the decoders of large models. */
const keptBeginnings = 4

/** The methods of a decoder's process; `plan` says which decoder to load. */
export interface DecoderMethods<Plan, Frames> {
  readonly open: { readonly input: Plan }
  readonly begin: { readonly input: { readonly stream: number; readonly beginning: Beginning<Frames> } }
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

/** The child's side: loads the decoder that the plan names and decodes for the parent process. */
export function serveDecoder<Plan, Frames>(open: (plan: Plan) => Promise<Decoder<Frames>>): void {
  let decoder: Decoder<Frames> | undefined
  const streams = new Map<number, FrameDecoder<Frames>>()
  serveParent<DecoderMethods<Plan, Frames>>({
    async open(plan) {
      decoder = await open(plan)
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

/**
 * Loads a decoder from a file, which is closed then. Throws `unavailable` where it is not the file of that identity, which the
 * engine has checked.
 */
export async function loadFromFile<Frames>(
  file: TensorFile,
  identity: string,
  load: () => Promise<Decoder<Frames>>,
): Promise<Decoder<Frames>> {
  try {
    const loaded = await load()
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
