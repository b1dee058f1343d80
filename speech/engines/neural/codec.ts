/** The codec of a model as the loops of engines use it: whole frames in, samples out, here or in a process of its own. */
import { dirname } from 'node:path'
import { floats, openSession, type SessionOptions, type StreamingGraph } from '../../../src/inference/inference.ts'
import { type Child, createRevivedChild } from '../../../src/process/process.ts'
import { type Beginning, type Decoder, type Frames, frameDecoder } from '../../blocks/frame-decoder.ts'
import { createRotaryTable, type FrequencyForm } from '../../blocks/positions.ts'
import { createStream } from '../../blocks/state-stream.ts'
import { cacheShape, type TransformerShape } from '../../blocks/transformer.ts'

/** The graph of a codec's decoder with all that runs it, as plain data. */
export interface Codec {
  /** The file of its weights, and the identity of the one that was checked. */
  readonly path: string
  readonly identity: string
  /** Input `latents` float32 or `codes` int64 [frames, numbers], output `audio` [samples, 1]. */
  readonly graph: StreamingGraph
  readonly session: SessionOptions
  readonly transformer: TransformerShape
  /** How many positions of the transformer a row sees, and how their angles are computed. */
  readonly context: number
  readonly frequencies?: FrequencyForm
  /** Rows of the transformer that see equally far back; 1 by default. */
  readonly rowsTogether?: number
  /** Numbers of a frame, and the rows of the transformer that they make. */
  readonly numbers: number
  readonly stride: number
}

/** The methods of a decoder's process. `stream` is one number for each signal. */
export interface DecoderMethods {
  readonly open: { readonly input: Codec }
  readonly begin: { readonly input: { readonly stream: number; readonly beginning: Beginning } }
  readonly decode: {
    /** `begins` is true where the frames begin a signal. */
    readonly input: { readonly stream: number; readonly begins: boolean; readonly frames: Frames }
    readonly result: Float32Array
  }
}

/** Loads a codec, in this process or in one of its own. */
export function openCodec(codec: Codec, where: 'here' | 'process' = 'here'): Promise<Decoder> {
  return where === 'process' ? openDecoderProcess(codec) : loadCodec(codec)
}

/** Loads a codec into this process. */
export async function loadCodec({ path, graph, session: options, transformer, numbers, stride, ...codec }: Codec) {
  const session = await openSession(graph.model, { ...options, weightsFolder: dirname(path) })
  const shape = cacheShape(transformer, codec.context)
  const rotary = createRotaryTable(transformer.headSize, transformer.period, codec.frequencies)
  const openStream = () =>
    createStream({ session, states: graph.states, shape, rotary, rowsTogether: codec.rowsTogether ?? 1 })
  return {
    openStream,
    open() {
      const stream = openStream()
      return frameDecoder(stream, async (frames) => {
        const count = frames.length / numbers
        const { audio } = await stream.run(inputOf(frames, [count, numbers]), count * stride)
        return audio!.data as Float32Array
      })
    },
    close: () => session.close(),
  }
}

function inputOf(frames: Frames, shape: readonly number[]) {
  if (frames instanceof Float32Array) return { latents: floats(shape, frames) }
  return { codes: { type: 'int64' as const, shape, data: BigInt64Array.from(frames, BigInt) } }
}

/**
 * Starts a process and loads the codec there, so that it turns one frame into samples on a second core while the language
 * model makes the next ones on the first. When it is lost, the signal in flight fails and the next one starts another.
 */
async function openDecoderProcess(codec: Codec): Promise<Decoder> {
  const child = createRevivedChild<DecoderMethods>({
    name: 'The process that decodes the audio',
    module: { beside: import.meta.url, name: './decoder-child' },
    open: codec,
  })
  let streams = 0
  await child.start()

  return {
    open() {
      const stream = ++streams
      /** The process that decodes this signal from its beginning. */
      let mine: Promise<Child<DecoderMethods>> | undefined
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

      async function begin(beginning: Beginning): Promise<Child<DecoderMethods>> {
        const process = await child.start()
        await process.request('begin', { stream, beginning })
        return process
      }
    },
    close: () => child.close(),
  }
}
