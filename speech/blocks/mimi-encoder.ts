/** The encoder of the mimi codec with a projection: a reference clip in, rows that give a language model its voice out. */

import {
  concat,
  createGraph,
  createWeights,
  integers,
  slice,
  type TensorFile,
  type Value,
  type Weights,
} from '../../src/inference/inference.ts'
import { convolve, createStreamStates, type StreamStates } from './convolution.ts'
import type { CodecHalf, StreamingGraph } from './mimi-decoder.ts'
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
  options: { readonly stages?: boolean } = {},
): StreamingGraph {
  const graph = createGraph('mimi_encoder')
  const weights = createWeights(graph, file)
  const states = createStreamStates(graph)
  const audio = graph.input('audio', 'float32', ['samples', 1])
  const seanet = runSeanet(weights, states, modules, shape.dilationBase, audio)
  const transformer = runTransformer(weights, shape, seanet).at(-1)!
  const latent = downsample(weights, states, tensors.downsample, transformer, stride)
  const [width = 0, channels = 0] = weights.shape(tensors.projection)
  graph.output('conditions', weights.linear(latent, tensors.projection), 'float32', ['frames', width])
  if (options.stages) {
    graph.output('seanet', seanet, 'float32', ['seanet_rows', shape.width])
    graph.output('transformer', transformer, 'float32', ['transformer_rows', shape.width])
    graph.output('latent', latent, 'float32', ['latent_frames', channels])
  }
  return { model: graph.encode(), states: states.kept }
}

/** The one convolution that does not start from silence: copies of the first sample come before it. */
export function downsample(weights: Weights, states: StreamStates, name: string, x: Value, stride: number): Value {
  const { graph } = weights
  const [, channels = 0, kernel = 0] = weights.shape(`${name}.weight`)
  const kept = kernel - stride
  const previous = states.previous(name, kept, channels)
  const copies = graph.node('Expand', [slice(graph, x, 0, 0, 1), integers(graph, kept, channels)])
  const before = graph.node('Where', [graph.input('first', 'bool', [1]), copies, previous])
  const extended = concat(graph, 0, before, x)
  states.keep(name, slice(graph, extended, 0, -kept))
  return convolve(weights, name, extended, { stride })
}
