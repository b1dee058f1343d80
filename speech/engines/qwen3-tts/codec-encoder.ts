/** The half of the codec that hears a clip and gives its codes, for cloning with a transcript. */
import {
  createGraph,
  type GraphOptions,
  type StreamingGraph,
  type TensorFile,
  type Value,
} from '../../../src/inference/inference.ts'
import { convolve, fillStride } from '../../blocks/convolution.ts'
import { downsample } from '../../blocks/mimi-encoder.ts'
import { nearestCodes } from '../../blocks/residual-vectors.ts'
import { runSeanet } from '../../blocks/seanet.ts'
import { runTransformer } from '../../blocks/transformer.ts'
import type { CodecFile } from './configuration.ts'
import { type CodecBooks, encoderBooks, findEncoderSeanet } from './geometry.ts'
import { encoderShape } from './layers.ts'

/** Rows of the encoder's transformer become half as many frames. */
export const rowsPerFrame = 2

/**
 * Input `audio` [samples, 1], whole frames but for the last piece of a clip, and `first` bool [1]: whether it begins the
 * clip. Output `codes` int64 [frames, groups]. With `stages` also `seanet`, `transformer` and `downsample` [rows, width].
 */
export function buildCodecEncoder(file: TensorFile, codec: CodecFile, options?: GraphOptions): StreamingGraph {
  const { encoder_config: encoder, encoder_valid_num_quantizers: groups } = codec
  const graph = createGraph('codec_encoder', file, options)
  const audio = graph.input('audio', 'float32', ['samples', 1])
  const seanet = runSeanet(graph, findEncoderSeanet(file), encoder.dilation_growth_rate, audio, true)
  graph.stage('seanet', seanet)
  const rows = runTransformer(graph, encoderShape(codec), seanet)
  graph.stage('transformer', rows)
  const filled = fillStride(graph, rows, rowsPerFrame, 'edge')
  const frames = downsample(graph, 'encoder.downsample.conv', filled, rowsPerFrame)
  graph.stage('downsample', frames)
  graph.output('codes', codesOf(encoderBooks(groups)), 'int64', ['frames', groups])
  return graph.encodeStreaming()

  function codesOf(books: CodecBooks): Value {
    const project = (half: 'first' | 'rest') => convolve(graph, books.projection(half).replace(/\.weight$/, ''), frames)
    const first = nearestCodes(graph, books.first, project('first'))
    return graph.concat(1, first, nearestCodes(graph, books.rest, project('rest')))
  }
}
