/**
 * Causal convolutions that run piece by piece: each keeps the end of its input for the next call.
 * Signals are float32 [1, channels, samples].
 */
import type { Graph, Value } from './graph.ts'
import { add, concat, integers, multiply, reshape, slice } from './operators.ts'
import type { Weights } from './weights.ts'

/** What a convolution keeps between calls: float32, zero at the start of a signal. */
export interface KeptState {
  /** Goes in as `previous_NAME` and comes out as `next_NAME`. */
  readonly name: string
  readonly shape: readonly number[]
}

/** The states of one graph, in the order in which they were declared. */
export interface StreamStates {
  readonly kept: readonly KeptState[]
  /** Puts the kept samples in front of `x` and keeps the last `samples` of both for the next call. */
  extend(name: string, x: Value, channels: number, samples: number): Value
  /** Declares a state as an input; `keep` must be called with its next value. */
  previous(name: string, channels: number, samples: number): Value
  keep(name: string, next: Value): void
}

export function createStreamStates(graph: Graph): StreamStates {
  const kept: KeptState[] = []
  const shapeOf = (name: string) => kept.find((state) => state.name === name)!.shape
  return { kept, extend, previous, keep }

  function extend(name: string, x: Value, channels: number, samples: number): Value {
    if (samples === 0) return x
    const extended = concat(graph, 2, previous(name, channels, samples), x)
    keep(name, slice(graph, extended, 2, -samples))
    return extended
  }

  function previous(name: string, channels: number, samples: number): Value {
    kept.push({ name, shape: [1, channels, samples] })
    return graph.input(`previous_${name}`, 'float32', [1, channels, samples])
  }

  function keep(name: string, next: Value): void {
    graph.output(`next_${name}`, next, 'float32', shapeOf(name))
  }
}

export interface ConvolutionShape {
  readonly stride?: number
  readonly dilation?: number
}

/** Weights [out, in, kernel]: before the first sample come kernel - stride zeros, later the last samples of the call before. */
export function convolution(
  weights: Weights,
  states: StreamStates,
  name: string,
  x: Value,
  { stride = 1, dilation = 1 }: ConvolutionShape = {},
): Value {
  const [, channels = 0, kernel = 0] = weights.shape(`${name}.weight`)
  const extended = states.extend(name, x, channels, (kernel - 1) * dilation + 1 - stride)
  const attributes = { strides: { ints: [stride] }, dilations: { ints: [dilation] } }
  return weights.graph.node('Conv', [extended, weights.value(`${name}.weight`), biasOf(weights, name)], attributes)
}

/**
 * Weights [in, out, 2 × stride]: every input sample makes `stride` output samples, and adds to those of the next one.
 * Keeping one input sample is all that takes; what the operator makes before and after the samples of this call is cut off.
 */
export function transposedConvolution(weights: Weights, states: StreamStates, name: string, x: Value): Value {
  const [channels = 0, , kernel = 0] = weights.shape(`${name}.weight`)
  const stride = kernel / 2
  const extended = states.extend(name, x, channels, 1)
  const attributes = { strides: { ints: [stride] }, pads: { ints: [stride, stride] } }
  const inputs = [extended, weights.value(`${name}.weight`), biasOf(weights, name)]
  return weights.graph.node('ConvTranspose', inputs, attributes)
}

/** The same with one filter per channel, weights [channels, 1, 2 × stride], as plain products: one group per channel is slow. */
export function depthwiseTransposedConvolution(weights: Weights, states: StreamStates, name: string, x: Value): Value {
  const { graph } = weights
  const [channels = 0, , kernel = 0] = weights.shape(`${name}.weight`)
  const stride = kernel / 2
  const filters = weights.value(`${name}.weight`)
  const extended = states.extend(name, x, channels, 1)
  const spread = (samples: Value, filter: Value) =>
    multiply(graph, graph.node('Unsqueeze', [samples, integers(graph, 3)]), filter)
  const current = spread(slice(graph, extended, 2, 1), slice(graph, filters, 2, 0, stride))
  const before = spread(slice(graph, extended, 2, 0, -1), slice(graph, filters, 2, stride))
  return reshape(graph, add(graph, current, before), 1, channels, -1)
}

function biasOf(weights: Weights, name: string): Value | undefined {
  return weights.has(`${name}.bias`) ? weights.value(`${name}.bias`) : undefined
}
