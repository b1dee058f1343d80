/**
 * The flow head: how a noisy latent moves between two times of a frame, given the language model's condition.
 * Modulated residual blocks after Peebles & Xie 2022 (arXiv:2212.09748) and Li et al. 2024 (arXiv:2406.11838).
 */
import {
  add,
  concat,
  createGraph,
  createWeights,
  type Graph,
  layerNorm,
  multiply,
  scalar,
  silu,
  split,
  type TensorFile,
  type Value,
  type Weights,
} from '../../../src/inference/inference.ts'
import type { PocketConfiguration } from './configuration.ts'
import type { PocketGeometry } from './geometry.ts'

const prefix = 'flow_lm.flow_net'

/**
 * Inputs `start` and `end` [n, 1], times in [0, 1]. Outputs `start_embedding` and `end_embedding` [n, width].
 * The times of a sampling scheme never change, so this runs once per model, not once per frame.
 */
export function buildTimeEmbedding(file: TensorFile, epsilon: number, width: number): Uint8Array {
  const graph = createGraph('time_embedding')
  const weights = createWeights(graph, file)
  for (const [index, name] of ['start', 'end'].entries()) {
    const time = graph.input(name, 'float32', ['rows', 1])
    const embedding = embedTime(weights, `${prefix}.time_embed.${index}`, time, epsilon, width)
    graph.output(`${name}_embedding`, embedding, 'float32', ['rows', width])
  }
  return graph.encode()
}

/**
 * Inputs: `condition` [n, language model width], `time` [n, width], the mean of both time embeddings, and `latent` [n, latent].
 * Output: `velocity` [n, latent]. With `stages` also `modulation` [n, width] and `block_0` (the projected latent) to `block_N`.
 */
export function buildFlowHead(
  file: TensorFile,
  { head, languageModel, latent }: PocketGeometry,
  { head: { layerNormEpsilon } }: PocketConfiguration,
  options: { readonly stages?: boolean } = {},
): Uint8Array {
  const graph = createGraph('flow_head')
  const weights = createWeights(graph, file)
  const linear = (name: string, x: Value) => weights.linear(x, `${prefix}.${name}.weight`, `${prefix}.${name}.bias`)
  const condition = graph.input('condition', 'float32', ['rows', languageModel.width])
  const time = graph.input('time', 'float32', ['rows', head.width])
  const noisy = graph.input('latent', 'float32', ['rows', latent])
  const modulation = add(graph, time, linear('cond_embed', condition))
  const active = silu(graph, modulation)

  let x = linear('input_proj', noisy)
  const made = [x]
  for (let block = 0; block < head.blocks; block++) {
    const name = `res_blocks.${block}`
    const [shift, scale, gate] = split(graph, linear(`${name}.adaLN_modulation.1`, active), 1, 3)
    const scaleOfNorm = weights.value(`${prefix}.${name}.in_ln.weight`)
    const normed = layerNorm(graph, x, layerNormEpsilon, scaleOfNorm, weights.value(`${prefix}.${name}.in_ln.bias`))
    const inner = silu(graph, linear(`${name}.mlp.0`, modulate(graph, normed, shift!, scale!)))
    x = add(graph, x, multiply(graph, gate!, linear(`${name}.mlp.2`, inner)))
    made.push(x)
  }
  const [shift, scale] = split(graph, linear('final_layer.adaLN_modulation.1', active), 1, 2)
  const ones = graph.constant('float32', [head.width], new Float32Array(head.width).fill(1))
  const normed = layerNorm(graph, x, layerNormEpsilon, ones)
  const velocity = linear('final_layer.linear', modulate(graph, normed, shift!, scale!))
  graph.output('velocity', velocity, 'float32', ['rows', latent])
  if (options.stages) {
    graph.output('modulation', modulation, 'float32', ['rows', head.width])
    for (const [index, value] of made.entries()) graph.output(`block_${index}`, value, 'float32', ['rows', head.width])
  }
  return graph.encode()
}

/** x · (1 + scale) + shift. */
function modulate(graph: Graph, x: Value, shift: Value, scale: Value): Value {
  return add(graph, multiply(graph, x, add(graph, scale, scalar(graph, 1))), shift)
}

/** Cosines and sines of the stored frequencies, two linear layers, and a norm that divides by the deviation of n - 1 without centring. */
function embedTime(weights: Weights, name: string, time: Value, epsilon: number, width: number): Value {
  const { graph } = weights
  const angles = multiply(graph, time, weights.value(`${name}.freqs`))
  const waves = concat(graph, 1, graph.node('Cos', [angles]), graph.node('Sin', [angles]))
  const inner = silu(graph, weights.linear(waves, `${name}.mlp.0.weight`, `${name}.mlp.0.bias`))
  const x = weights.linear(inner, `${name}.mlp.2.weight`, `${name}.mlp.2.bias`)
  const last = graph.constant('int64', [1], BigInt64Array.of(-1n))
  const centred = graph.node('Sub', [x, graph.node('ReduceMean', [x, last])])
  const squares = graph.node('ReduceSum', [multiply(graph, centred, centred), last])
  const variance = graph.node('Div', [squares, scalar(graph, width - 1)])
  const deviation = graph.node('Sqrt', [add(graph, variance, scalar(graph, epsilon))])
  return graph.node('Div', [multiply(graph, x, weights.value(`${name}.mlp.3.alpha`)), deviation])
}
