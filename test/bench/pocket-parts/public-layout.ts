/**
 * The state layout of the public five-graph exports of pocket-tts, built by our own builder from the same weights: every
 * step takes the whole cache of 1,000 rows per layer in and gives it out again. Only the keeping of rows differs from ours.
 */

import { rotate } from '../../../speech/blocks/attention.ts'
import {
  convolve,
  createStreamStates,
  depthwiseTransposedConvolution,
  type KeptState,
} from '../../../speech/blocks/convolution.ts'
import { createRotaryTable, type RotaryTable } from '../../../speech/blocks/positions.ts'
import { runSeanet } from '../../../speech/blocks/seanet.ts'
import type { CodecShape, TransformerShape } from '../../../speech/blocks/transformer.ts'
import type { PocketGeometry } from '../../../speech/engines/pocket-tts/geometry.ts'
import { createGraph, type Graph, type Value } from '../../../src/inference/graph.ts'
import {
  add,
  concat,
  type GeluForm,
  gelu,
  integers,
  layerNorm,
  multiply,
  reshape,
  scalar,
  split,
  transpose,
} from '../../../src/inference/operators.ts'
import type { TensorFile } from '../../../src/inference/safetensors.ts'
import { weightsFolder } from '../../../src/inference/safetensors.ts'
import { openSession, type Session, type TensorData, type Tensors } from '../../../src/inference/session.ts'
import { createWeights, type Weights } from '../../../src/inference/weights.ts'

/** Rows of every cache in the public exports. */
const room = 1000

/** A transformer with its caches, or the codec's decoder around one, run step by step. */
export interface PublicGraph {
  run(inputs: Tensors, rows: number): Promise<Record<string, TensorData>>
  /** Goes back to an earlier position; later rows are overwritten. */
  rewind(position: number): void
  close(): Promise<void>
}

/** Inputs and outputs as `buildLanguageModel` has them. */
export async function openPublicLanguageModel(
  file: TensorFile,
  shape: TransformerShape,
  latent: number,
): Promise<PublicGraph> {
  const graph = createGraph('flow_lm_main')
  const weights = createWeights(graph, file)
  const embeddings = graph.input('embeddings', 'float32', ['embedded', shape.width])
  const latents = graph.input('latents', 'float32', ['frames', latent])
  const rows = concat(graph, 0, embeddings, weights.linear(latents, 'flow_lm.input_linear.weight'))
  const mixed = runLayers(weights, shape, rows)
  const [scale, bias] = [weights.value('flow_lm.out_norm.weight'), weights.value('flow_lm.out_norm.bias')]
  const hidden = layerNorm(graph, mixed, shape.epsilon, scale, bias)
  graph.output('hidden', hidden, 'float32', ['rows', shape.width])
  graph.output('end', weights.linear(hidden, 'flow_lm.out_eos.weight', 'flow_lm.out_eos.bias'), 'float32', ['rows', 1])
  return open(graph, file, shape, [])
}

/** Inputs and outputs as `buildMimiDecoder` has them. */
export async function openPublicDecoder(
  file: TensorFile,
  geometry: PocketGeometry,
  shape: CodecShape,
  context: number,
): Promise<PublicGraph> {
  const graph = createGraph('mimi_decoder')
  const weights = createWeights(graph, file)
  const states = createStreamStates(graph)
  const latents = graph.input('latents', 'float32', ['frames', geometry.latent])
  const spread = multiply(graph, latents, weights.value('flow_lm.emb_std'))
  const quantizer = convolve(
    weights,
    'mimi.quantizer.output_proj',
    add(graph, spread, weights.value('flow_lm.emb_mean')),
  )
  const upsample = depthwiseTransposedConvolution(weights, states, 'mimi.upsample.convtr.convtr', quantizer)
  const rows = runLayers(weights, shape, upsample)
  const audio = runSeanet(weights, states, geometry.decoder.seanet, shape.dilationBase, rows)
  graph.output('audio', audio, 'float32', ['samples', 1])
  return open(graph, file, shape, states.kept, context)
}

async function open(
  graph: Graph,
  file: TensorFile,
  shape: TransformerShape,
  kept: readonly KeptState[],
  context = Number.POSITIVE_INFINITY,
): Promise<PublicGraph> {
  const session = await openSession(graph.encode(), { name: 'public layout', weightsFolder: weightsFolder(file) })
  const rotary = createRotaryTable(shape.headSize, shape.period)
  return { ...runner(session, shape, kept, context, rotary), close: session.close }
}

function runner(
  session: Session,
  { layers, heads, headSize }: TransformerShape,
  kept: readonly KeptState[],
  context: number,
  rotary: RotaryTable,
): Pick<PublicGraph, 'run' | 'rewind'> {
  const size = (shape: readonly number[]) => shape.reduce((product, dimension) => product * dimension, 1)
  const zeros = (shape: readonly number[]): TensorData => ({
    type: 'float32',
    shape,
    data: new Float32Array(size(shape)),
  })
  let states: Record<string, TensorData> = {}
  for (let layer = 0; layer < layers; layer++) states[`cache_${layer}`] = zeros([2, 1, room, heads, headSize])
  for (const { name, shape } of kept) states[`previous_${name}`] = zeros(shape)
  let position = 0

  return { run, rewind: (to) => (position = to) }

  async function run(inputs: Tensors, rows: number): Promise<Record<string, TensorData>> {
    const mask = new Float32Array(rows * (position + rows))
    for (let row = 0; row < rows; row++)
      for (let at = 0; at < position + rows; at++)
        if (at > position + row || at <= position + row - context)
          mask[row * (position + rows) + at] = Number.NEGATIVE_INFINITY
    const offset: TensorData = { type: 'int64', shape: [1], data: BigInt64Array.of(BigInt(position)) }
    const outputs = await session.run({
      ...inputs,
      ...states,
      ...rotary.feeds(position, rows),
      offset,
      mask: { type: 'float32', shape: [rows, position + rows], data: mask },
    })
    position += rows
    states = Object.fromEntries(
      Object.keys(states).map((name) => [
        name,
        outputs[name.startsWith('cache') ? `out_${name}` : name.replace('previous', 'next')]!,
      ]),
    )
    return outputs
  }
}

function runLayers(weights: Weights, shape: TransformerShape, rows: Value): Value {
  const { graph } = weights
  const inputs = {
    cosines: graph.input('cosines', 'float32', ['rows', shape.headSize / 2]),
    sines: graph.input('sines', 'float32', ['rows', shape.headSize / 2]),
    mask: graph.input('mask', 'float32', ['rows', 'all']),
    offset: graph.input('offset', 'int64', [1]),
  }
  const end = add(graph, inputs.offset, graph.node('Shape', [rows], { end: { int: 1 } }))
  let x = rows
  for (let layer = 0; layer < shape.layers; layer++) {
    const name = `${shape.prefix}.layers.${layer}`
    const norm = (part: string, value: Value) =>
      layerNorm(
        graph,
        value,
        shape.epsilon,
        weights.value(`${name}.${part}.weight`),
        weights.value(`${name}.${part}.bias`),
      )
    const scaled = (part: number, value: Value) =>
      weights.has(`${name}.layer_scale_${part}.scale`)
        ? multiply(graph, value, weights.value(`${name}.layer_scale_${part}.scale`))
        : value
    const projected = weights.linear(norm('norm1', x), `${name}.self_attn.in_proj.weight`)
    const attended = attendToState(graph, shape, inputs, end, layer, split(graph, projected, 1, 3))
    x = add(graph, x, scaled(1, weights.linear(attended, `${name}.self_attn.out_proj.weight`)))
    const inner = gelu(graph, weights.linear(norm('norm2', x), `${name}.linear1.weight`), shape.activation as GeluForm)
    x = add(graph, x, scaled(2, weights.linear(inner, `${name}.linear2.weight`)))
  }
  return x
}

/** Writes the new rows into the whole cache, gives it out, and attends to its used part. */
function attendToState(
  graph: Graph,
  shape: TransformerShape,
  inputs: { cosines: Value; sines: Value; mask: Value; offset: Value },
  end: Value,
  layer: number,
  [query, key, value]: Value[],
): Value {
  const { heads, headSize } = shape
  const cacheShape = [2, 1, room, heads, headSize]
  const cache = graph.input(`cache_${layer}`, 'float32', cacheShape)
  const slice = (from: Value, to: Value, axis: number, x: Value) =>
    graph.node('Slice', [x, from, to, integers(graph, axis)])
  const rows = concat(
    graph,
    0,
    reshape(graph, rotate(graph, shape, inputs, key!), 1, 1, -1, heads, headSize),
    reshape(graph, value!, 1, 1, -1, heads, headSize),
  )
  const [zero, all] = [integers(graph, 0), integers(graph, room)]
  const written = concat(graph, 2, slice(zero, inputs.offset, 2, cache), rows, slice(end, all, 2, cache))
  graph.output(`out_cache_${layer}`, written, 'float32', cacheShape)
  const used = reshape(graph, slice(zero, end, 2, written), 2, -1, heads, headSize)
  const [keys, values] = split(graph, used, 0, 2).map((half) => reshape(graph, half, -1, heads, headSize))
  const scaled = multiply(graph, rotate(graph, shape, inputs, query!), scalar(graph, 1 / Math.sqrt(headSize)))
  const queries = transpose(graph, reshape(graph, scaled, -1, heads, headSize), 1, 0, 2)
  const scores = add(graph, graph.node('MatMul', [queries, transpose(graph, keys!, 1, 2, 0)]), inputs.mask)
  const weights = graph.node('Softmax', [scores], { axis: { int: -1 } })
  const mixed = graph.node('MatMul', [weights, transpose(graph, values!, 1, 0, 2)])
  return reshape(graph, transpose(graph, mixed, 1, 0, 2), -1, heads * headSize)
}
