/** The codec's decoder as the loops of engines use it: whole frames in, samples out, here or in a process of its own. */
import { type TensorFile, weightsFolder } from '../../../src/inference/safetensors.ts'
import { openSession, type SessionOptions, type Tensors } from '../../../src/inference/session.ts'
import { type Decoder, frameDecoder, openDecoderProcess as openProcess } from '../../blocks/frame-decoder.ts'
import type { StreamingGraph } from '../../blocks/mimi-decoder.ts'
import { createStream, type Stream, type StreamParts } from '../../blocks/state-stream.ts'

/** Which decoder to load. */
export interface DecoderPlan {
  /** The folder of the engine. */
  readonly engine: string
  /** The model's folder. */
  readonly folder: string
}

/** An engine's decoders: how the process beside it opens the codec's file and loads one. */
export interface DecoderSource<Plan extends DecoderPlan, Frames> {
  openFile(plan: Plan): Promise<TensorFile>
  load(file: TensorFile, plan: Plan): Promise<Decoder<Frames>>
}

/** A plan on its way into the process, with the identity of the codec's file that the engine has checked. */
export type CheckedPlan = DecoderPlan & { readonly identity: string }

/** Loads a decoder over an open file, in this process or beside it. */
export function openDecoder<Plan extends DecoderPlan, Frames>(
  { load }: Pick<DecoderSource<Plan, Frames>, 'load'>,
  file: TensorFile,
  plan: Plan,
  where: 'here' | 'process' = 'here',
): Promise<Decoder<Frames>> {
  return where === 'process' ? openDecoderProcess({ ...plan, identity: file.identity }) : load(file, plan)
}

/** A decoder in a process of its own. */
export function openDecoderProcess<Frames>(plan: CheckedPlan): Promise<Decoder<Frames>> {
  return openProcess({ beside: import.meta.url, name: '../../decoder-child' }, plan)
}

/** A codec's graph with the weights and sizes that run it. */
export interface Codec<Frames> extends Omit<StreamParts, 'session' | 'states'> {
  readonly file: TensorFile
  readonly graph: StreamingGraph
  readonly options: SessionOptions
  /** The inputs for whole frames, and the rows of attention that they make. */
  feed(frames: Frames): { readonly inputs: Tensors; readonly rows: number }
}

/** Loads a decoder into this process. */
export async function loadCodec<Frames>({
  file,
  graph,
  options,
  feed,
  ...parts
}: Codec<Frames>): Promise<Decoder<Frames> & { openStream(): Stream }> {
  const session = await openSession(graph.model, { ...options, weightsFolder: weightsFolder(file) })
  const openStream = () => createStream({ ...parts, session, states: graph.states })
  return {
    openStream,
    open() {
      const stream = openStream()
      return frameDecoder(stream, async (frames: Frames) => {
        const { inputs, rows } = feed(frames)
        const { audio } = await stream.run(inputs, rows)
        return audio!.data as Float32Array
      })
    },
    close: () => session.close(),
  }
}

/** The input of a codec that takes codes [frames × books]; each frame makes `stride` rows of attention. */
export function feedCodes(books: number, stride: number): Codec<Int32Array>['feed'] {
  return (codes) => {
    const frames = codes.length / books
    const data = BigInt64Array.from(codes, BigInt)
    return { inputs: { codes: { type: 'int64', shape: [frames, books], data } }, rows: frames * stride }
  }
}
