/** The encoder of the mimi codec with a projection: a reference clip in, rows that give a language model its voice out. */

import {
  createGraph,
  type Graph,
  type GraphOptions,
  type StreamingGraph,
  type TensorFile,
  type Value,
} from '../../src/inference/inference.ts'
import { convolve } from './convolution.ts'
import type { CodecHalf } from './mimi-decoder.ts'
import { runSeanet } from './seanet.ts'
import { type CodecShape, runTransformer } from './transformer.ts'

/** The names of the tensors behind an encoder's transformer; that of the convolution without `.weight` and `.bias`. */
export interface EncoderTensors {
  readonly downsample: string
  /** Projects to the width of the language model. */
  readonly projection: string
}

/**
 * Input `audio` [samples of whole frames, 1], and `first` bool [1]: whether it begins the clip. Output `conditions` [frames,
 * language model width]. With `stages` also `seanet` and `transformer` [rows, width] and `latent` [frames, channels].
 */
export function buildMimiEncoder(
  file: TensorFile,
  { seanet: modules, stride, tensors }: CodecHalf & { readonly tensors: EncoderTensors },
  shape: CodecShape,
  options?: GraphOptions,
): StreamingGraph {
  const graph = createGraph('mimi_encoder', file, options)
  const audio = graph.input('audio', 'float32', ['samples', 1])
  const seanet = runSeanet(graph, modules, shape.dilationBase, audio)
  const transformer = runTransformer(graph, shape, seanet)
  const latent = downsample(graph, tensors.downsample, transformer, stride)
  const [width = 0] = graph.weightShape(tensors.projection)
  graph.output('conditions', graph.linear(latent, tensors.projection), 'float32', ['frames', width])
  for (const [part, value] of Object.entries({ seanet, transformer, latent })) graph.stage(part, value)
  return graph.encodeStreaming()
}

/** The one convolution that does not start from silence: copies of the first sample come before it. */
export function downsample(graph: Graph, name: string, x: Value, stride: number): Value {
  const [, channels = 0, kernel = 0] = graph.weightShape(`${name}.weight`)
  const kept = kernel - stride
  const previous = graph.previous(name, kept, channels)
  const copies = graph.node('Expand', [graph.slice(x, 0, 0, 1), graph.integers(kept, channels)])
  const before = graph.node('Where', [graph.input('first', 'bool', [1]), copies, previous])
  const extended = graph.concat(0, before, x)
  graph.keep(name, graph.slice(extended, 0, -kept))
  return convolve(graph, name, extended, { stride })
}
