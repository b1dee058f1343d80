/**
 * The flow head: how a noisy latent moves between two times of a frame, given the language model's condition.
 * Modulated residual blocks after Peebles & Xie 2022 (arXiv:2212.09748) and Li et al. 2024 (arXiv:2406.11838).
 */
import { createGraph, type Graph, type TensorFile, type Value } from '../../../src/inference/inference.ts'
import type { PocketConfiguration } from './configuration.ts'
import type { PocketGeometry } from './geometry.ts'

const prefix = 'flow_lm.flow_net'

/**
 * Inputs `start` and `end` [n, 1], times in [0, 1]. Outputs `start_embedding` and `end_embedding` [n, width].
 * The times of a sampling scheme never change, so this runs once per model, not once per frame.
 */
export function buildTimeEmbedding(file: TensorFile, epsilon: number, width: number): Uint8Array {
  const graph = createGraph('time_embedding', file)
  for (const [index, name] of ['start', 'end'].entries()) {
    const time = graph.input(name, 'float32', ['rows', 1])
    const embedding = embedTime(graph, `${prefix}.time_embed.${index}`, time, epsilon, width)
    graph.output(`${name}_embedding`, embedding, 'float32', ['rows', width])
  }
  return graph.encode()
}

/** Inputs `condition` [n, language width], mean `time` [n, width], `latent` [n, latent]; output `velocity` likewise. */
export function buildFlowHead(
  file: TensorFile,
  { head, languageModel, latent }: PocketGeometry,
  { head: { layerNormEpsilon } }: PocketConfiguration,
): Uint8Array {
  const graph = createGraph('flow_head', file)
  const linear = (name: string, x: Value) => graph.linear(x, `${prefix}.${name}.weight`, `${prefix}.${name}.bias`)
  const condition = graph.input('condition', 'float32', ['rows', languageModel.width])
  const time = graph.input('time', 'float32', ['rows', head.width])
  const noisy = graph.input('latent', 'float32', ['rows', latent])
  const modulation = graph.add(time, linear('cond_embed', condition))
  const active = graph.silu(modulation)

  let x = linear('input_proj', noisy)
  for (let block = 0; block < head.blocks; block++) {
    const name = `res_blocks.${block}`
    const [shift, scale, gate] = graph.split(linear(`${name}.adaLN_modulation.1`, active), 1, 3)
    const scaleOfNorm = graph.weight(`${prefix}.${name}.in_ln.weight`)
    const normed = graph.layerNorm(x, layerNormEpsilon, scaleOfNorm, graph.weight(`${prefix}.${name}.in_ln.bias`))
    const inner = graph.silu(linear(`${name}.mlp.0`, modulate(graph, normed, shift!, scale!)))
    x = graph.add(x, graph.multiply(gate!, linear(`${name}.mlp.2`, inner)))
  }
  const [shift, scale] = graph.split(linear('final_layer.adaLN_modulation.1', active), 1, 2)
  const ones = graph.constant('float32', [head.width], new Float32Array(head.width).fill(1))
  const normed = graph.layerNorm(x, layerNormEpsilon, ones)
  const velocity = linear('final_layer.linear', modulate(graph, normed, shift!, scale!))
  graph.output('velocity', velocity, 'float32', ['rows', latent])
  return graph.encode()
}

/** x · (1 + scale) + shift. */
function modulate(graph: Graph, x: Value, shift: Value, scale: Value): Value {
  return graph.add(graph.multiply(x, graph.add(scale, graph.scalar(1))), shift)
}

/** Cosines and sines of the stored frequencies, two linear layers, and a norm that divides by the deviation of n - 1 without centring. */
function embedTime(graph: Graph, name: string, time: Value, epsilon: number, width: number): Value {
  const angles = graph.multiply(time, graph.weight(`${name}.freqs`))
  const waves = graph.concat(1, graph.node('Cos', [angles]), graph.node('Sin', [angles]))
  const inner = graph.silu(graph.linear(waves, `${name}.mlp.0.weight`, `${name}.mlp.0.bias`))
  const x = graph.linear(inner, `${name}.mlp.2.weight`, `${name}.mlp.2.bias`)
  const last = graph.constant('int64', [1], BigInt64Array.of(-1n))
  const centred = graph.node('Sub', [x, graph.node('ReduceMean', [x, last])])
  const squares = graph.node('ReduceSum', [graph.multiply(centred, centred), last])
  const variance = graph.node('Div', [squares, graph.scalar(width - 1)])
  const deviation = graph.node('Sqrt', [graph.add(variance, graph.scalar(epsilon))])
  return graph.node('Div', [graph.multiply(x, graph.weight(`${name}.mlp.3.alpha`)), deviation])
}
