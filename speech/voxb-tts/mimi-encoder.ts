/** The encoder of the mimi codec with the speaker projection: a reference clip in, the rows that make the language model speak in its voice out. */
import { createStreamStates } from '../onnx/convolution.ts'
import { createGraph, type Value } from '../onnx/graph.ts'
import { integers, slice, transpose } from '../onnx/operators.ts'
import type { TensorFile } from '../onnx/safetensors.ts'
import { createWeights, type Weights } from '../onnx/weights.ts'
import type { PocketConfiguration } from './configuration.ts'
import type { PocketGeometry } from './geometry.ts'
import type { StreamingGraph } from './mimi-decoder.ts'
import { runSeanet } from './seanet.ts'
import { runTransformer, type TransformerShape } from './transformer.ts'

type Encoder = NonNullable<PocketGeometry['encoder']>

export function encoderShape(encoder: Encoder, { mimi, gelu }: PocketConfiguration): TransformerShape {
  return { ...encoder.transformer, ...mimi, gelu }
}

/**
 * Input `audio` [1, 1, whole frames], and `first` bool [1]: whether it begins the clip. Output `conditions` [frames, language
 * model width]. With `stages` also `seanet` and `transformer` [1, width, rows] and `latent` [1, channels, frames].
 */
export function buildMimiEncoder(
  file: TensorFile,
  encoder: Encoder,
  shape: TransformerShape,
  options: { readonly stages?: boolean } = {},
): StreamingGraph {
  const graph = createGraph('mimi_encoder')
  const weights = createWeights(graph, file)
  const states = createStreamStates(graph)
  const audio = graph.input('audio', 'float32', [1, 1, 'samples'])
  const seanet = runSeanet(weights, states, encoder.seanet, audio)
  const rows = transpose(graph, graph.node('Squeeze', [seanet, integers(graph, 0)]), 1, 0)
  const mixed = runTransformer(weights, shape, rows).at(-1)!
  const transformer = graph.node('Unsqueeze', [transpose(graph, mixed, 1, 0), integers(graph, 0)])
  const latent = downsample(weights, states, transformer, encoder.stride)
  const frames = transpose(graph, graph.node('Squeeze', [latent, integers(graph, 0)]), 1, 0)
  const [width = 0, channels = 0] = weights.shape('flow_lm.speaker_proj_weight')
  graph.output('conditions', weights.linear(frames, 'flow_lm.speaker_proj_weight'), 'float32', ['frames', width])
  if (options.stages) {
    graph.output('seanet', seanet, 'float32', [1, shape.width, 'seanet_rows'])
    graph.output('transformer', transformer, 'float32', [1, shape.width, 'transformer_rows'])
    graph.output('latent', latent, 'float32', [1, channels, 'latent_frames'])
  }
  return { model: graph.encode(), states: states.kept }
}

/** The one convolution that does not start from silence: copies of the first sample come before it. */
function downsample(weights: Weights, states: ReturnType<typeof createStreamStates>, x: Value, stride: number): Value {
  const { graph } = weights
  const name = 'mimi.downsample.conv.conv'
  const [, channels = 0, kernel = 0] = weights.shape(`${name}.weight`)
  const kept = kernel - stride
  const previous = states.previous(name, channels, kept)
  const copies = graph.node('Expand', [slice(graph, x, 2, 0, 1), integers(graph, 1, channels, kept)])
  const before = graph.node('Where', [graph.input('first', 'bool', [1]), copies, previous])
  const extended = graph.node('Concat', [before, x], { axis: { int: 2 } })
  states.keep(name, slice(graph, extended, 2, -kept))
  return graph.node('Conv', [extended, weights.value(`${name}.weight`)], { strides: { ints: [stride] } })
}
