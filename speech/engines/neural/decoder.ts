/** The codec's decoder as the loops of engines use it: whole frames in, samples out, here or in a process of its own. */

import {
  openSession,
  type SessionOptions,
  type StreamingGraph,
  type TensorFile,
  type Tensors,
  weightsFolder,
} from '../../../src/inference/inference.ts'
import type { ChildModule } from '../../../src/process/process.ts'
import { type Decoder, frameDecoder } from '../../blocks/frame-decoder.ts'
import { createStream, type Stream, type StreamParts } from '../../blocks/state-stream.ts'
import { type DecoderPlan, openDecoderProcess } from './decoder-process.ts'

/** An engine's decoders: how one is loaded over the codec's file, here or in a process of its own. */
export interface DecoderSource<Plan extends DecoderPlan, Frames> {
  /** The module that calls `serveDecoder`. Its file has a name of its own, since a build puts all into one folder. */
  readonly module: ChildModule
  openFile(plan: Plan): Promise<TensorFile>
  load(file: TensorFile, plan: Plan): Promise<Decoder<Frames>>
}

/** Loads a decoder over an open file, in this process or in one of its own. */
export function openDecoder<Plan extends DecoderPlan, Frames>(
  source: DecoderSource<Plan, Frames>,
  file: TensorFile,
  plan: Plan,
  where: 'here' | 'process' = 'here',
): Promise<Decoder<Frames>> {
  return where === 'process'
    ? openDecoderProcess(source.module, { plan, identity: file.identity })
    : source.load(file, plan)
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
