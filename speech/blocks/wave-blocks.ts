/** Blocks of decoders that make waves from latents, piece by piece as in `convolution.ts`; signals are [samples, channels]. */
import {
  add,
  type Graph,
  gelu,
  integers,
  layerNorm,
  multiply,
  reshape,
  scalar,
  slice,
  transpose,
  type Value,
  type Weights,
} from '../../src/inference/inference.ts'
import { convolution, type StreamStates, transposedConvolution } from './convolution.ts'

/** x + sin²(x · e^alpha) / (e^beta + 1e-9), a periodic activation (Ziyin et al. 2020, arXiv:2006.08195; Lee et al. 2023, arXiv:2206.04658). */
export function snakeBeta(weights: Weights, name: string, x: Value): Value {
  const { graph } = weights
  const exponential = (part: string) => graph.node('Exp', [weights.value(`${name}.${part}`)])
  const wave = graph.node('Sin', [multiply(graph, x, exponential('alpha'))])
  const size = graph.node('Reciprocal', [add(graph, exponential('beta'), scalar(graph, 1e-9))])
  return add(graph, x, multiply(graph, multiply(graph, wave, wave), size))
}

/** One filter per channel: weights [channels, 1, kernel], causal. */
function depthwiseConvolution(weights: Weights, states: StreamStates, name: string, x: Value): Value {
  const { graph } = weights
  const [channels = 0, , kernel = 0] = weights.shape(`${name}.weight`)
  const filters = transpose(graph, reshape(graph, weights.value(`${name}.weight`), channels, kernel), 1, 0)
  const extended = states.extend(name, x, kernel - 1, channels)
  const taps = Array.from({ length: kernel }, (_, tap) => {
    const behind = kernel - 1 - tap
    const samples = slice(graph, extended, 0, tap, behind === 0 ? undefined : -behind)
    return multiply(graph, samples, slice(graph, filters, 0, tap, tap + 1))
  })
  return add(
    graph,
    taps.reduce((sum, tap) => add(graph, sum, tap)),
    weights.value(`${name}.bias`),
  )
}

/** The epsilon that ConvNeXt's authors fixed. */
const convNextEpsilon = 1e-6

/**
 * ConvNeXt (Liu et al. 2022, arXiv:2201.03545): filters per channel, then a feed-forward part with scaled output that
 * is added.
 */
export function convNext(weights: Weights, states: StreamStates, name: string, x: Value): Value {
  const { graph } = weights
  const filtered = depthwiseConvolution(weights, states, `${name}.dwconv.conv`, x)
  const norm = (part: string) => weights.value(`${name}.norm.${part}`)
  const normed = layerNorm(graph, filtered, convNextEpsilon, norm('weight'), norm('bias'))
  const inner = gelu(graph, weights.linear(normed, `${name}.pwconv1.weight`, `${name}.pwconv1.bias`), 'erf')
  const outer = weights.linear(inner, `${name}.pwconv2.weight`, `${name}.pwconv2.bias`)
  return add(graph, x, multiply(graph, outer, weights.value(`${name}.gamma`)))
}

/** Weights [in, out, stride]: every input sample makes `stride` output samples, and no two overlap. */
export function spreadingConvolution(weights: Weights, name: string, x: Value): Value {
  const { graph } = weights
  const [channels = 0, outputs = 0, stride = 0] = weights.shape(`${name}.weight`)
  const matrix = reshape(graph, transpose(graph, weights.value(`${name}.weight`), 2, 1, 0), stride * outputs, channels)
  const samples = graph.node('Gemm', [x, matrix, repeated(graph, weights.value(`${name}.bias`), stride)], {
    transB: { int: 1 },
  })
  return reshape(graph, samples, -1, outputs)
}

function repeated(graph: Graph, bias: Value, times: number): Value {
  return graph.node('Tile', [bias, integers(graph, times)])
}

/** How far apart the samples lie that the residual units of a block look at. */
const unitDilations = [1, 3, 9] as const

/** Up-sampling by half the kernel of `NAME.1`, and three residual units; every value on the way goes to `stage` too. */
export function waveBlock(
  weights: Weights,
  states: StreamStates,
  name: string,
  x: Value,
  stage: (name: string, value: Value) => void = () => {},
): Value {
  const { graph } = weights
  const active = snakeBeta(weights, `${name}.0`, x)
  stage('snake', active)
  let signal = transposedConvolution(weights, states, `${name}.1.conv`, active)
  stage('transposed', signal)
  for (const [index, dilation] of unitDilations.entries()) {
    const unit = `${name}.${index + 2}`
    const wide = snakeBeta(weights, `${unit}.act1`, signal)
    const inner = convolution(weights, states, `${unit}.conv1.conv`, wide, { dilation })
    const narrow = snakeBeta(weights, `${unit}.act2`, inner)
    signal = add(graph, signal, convolution(weights, states, `${unit}.conv2.conv`, narrow))
    stage(`unit_dilation${dilation}`, signal)
  }
  return signal
}
