/** The half of the codec that hears a clip and gives its codes, for cloning with a transcript. */
import {
  createGraph,
  type GraphOptions,
  type StreamingGraph,
  type TensorFile,
} from '../../../src/inference/inference.ts'
import { convolve, fillStride } from '../../blocks/convolution.ts'
import { downsample } from '../../blocks/mimi.ts'
import { nearestCodes } from '../../blocks/residual-vectors.ts'
import { runSeanet } from '../../blocks/seanet.ts'
import { runTransformer } from '../../blocks/transformer.ts'
import type { CodecFile } from './configuration.ts'
import { encoderBooks, findEncoderSeanet } from './geometry.ts'
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
  const { first, rest, projections } = encoderBooks(groups)
  const semantic = nearestCodes(graph, first, convolve(graph, projections.first, frames))
  const acoustic = nearestCodes(graph, rest, convolve(graph, projections.rest, frames))
  graph.output('codes', graph.concat(1, semantic, acoustic), 'int64', ['frames', groups])
  return graph.encodeStreaming()
}
