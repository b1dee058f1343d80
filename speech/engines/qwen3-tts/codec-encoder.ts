/** The half of the codec that hears a clip and gives its codes, for cloning with a transcript. */
import { concat, createGraph, createWeights, type TensorFile, type Value } from '../../../src/inference/inference.ts'
import { convolve, createStreamStates, fillStride } from '../../blocks/convolution.ts'
import type { StreamingGraph } from '../../blocks/mimi-decoder.ts'
import { downsample } from '../../blocks/mimi-encoder.ts'
import { nearestCodes } from '../../blocks/residual-vectors.ts'
import { runSeanet } from '../../blocks/seanet.ts'
import { runTransformer } from '../../blocks/transformer.ts'
import type { CodecFile } from './configuration.ts'
import { type CodecBooks, encoderBooks, findEncoderSeanet } from './geometry.ts'
import type { GraphOptions } from './language-graphs.ts'
import { encoderShape } from './layers.ts'

/** Rows of the encoder's transformer become half as many frames. */
export const rowsPerFrame = 2

/**
 * Input `audio` [samples, 1], whole frames but for the last piece of a clip, and `first` bool [1]: whether it begins the
 * clip. Output `codes` int64 [frames, groups]. With `stages` also `seanet`, `transformer` and `downsample` [rows, width].
 */
export function buildCodecEncoder(file: TensorFile, codec: CodecFile, options: GraphOptions = {}): StreamingGraph {
  const { encoder_config: encoder, encoder_valid_num_quantizers: groups } = codec
  const graph = createGraph('codec_encoder')
  const weights = createWeights(graph, file)
  const states = createStreamStates(graph)
  const stage = (name: string, value: Value) => {
    if (options.stages)
      graph.output(name, graph.node('Identity', [value]), 'float32', [`${name}_rows`, `${name}_width`])
  }
  const audio = graph.input('audio', 'float32', ['samples', 1])
  const seanet = runSeanet(weights, states, findEncoderSeanet(file), encoder.dilation_growth_rate, audio, {
    fillsLast: true,
    stage: (index, value) => stage(`seanet${index}`, value),
  })
  stage('seanet', seanet)
  const rows = runTransformer(weights, encoderShape(codec), seanet).at(-1)!
  stage('transformer', rows)
  const filled = fillStride(graph, rows, rowsPerFrame, 'edge')
  const frames = downsample(weights, states, 'encoder.downsample.conv', filled, rowsPerFrame)
  stage('downsample', frames)
  graph.output('codes', codesOf(encoderBooks(groups)), 'int64', ['frames', groups])
  return { model: graph.encode(), states: states.kept }

  function codesOf(books: CodecBooks): Value {
    const project = (half: 'first' | 'rest') =>
      convolve(weights, books.projection(half).replace(/\.weight$/, ''), frames)
    const first = nearestCodes(weights, books.first, project('first'))
    return concat(graph, 1, first, nearestCodes(weights, books.rest, project('rest')))
  }
}
