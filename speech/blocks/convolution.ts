/**
 * Causal convolutions that run piece by piece: each keeps the end of its input for the next call. Signals are float32
 * [samples, channels], so that a convolution is one product of unfolded rows with a matrix; on the processor that takes
 * less than half the time of the convolution operators, and the transformers next to it need no transposition.
 */
import type { Graph, Value } from '../../src/inference/inference.ts'

export interface ConvolutionShape {
  /** The kernel is a multiple of it. */
  readonly stride?: number
  /** Samples from one tap of the kernel to the next; only with stride 1. */
  readonly dilation?: number
  /** A last piece that is no multiple of the stride is filled up with zeros; without it every piece must be one. */
  readonly fillsLast?: boolean
}

/** Weights [out, in, kernel]: before the first sample come kernel - stride zeros, later the last samples of the call before. */
export function convolution(graph: Graph, name: string, x: Value, shape: ConvolutionShape = {}): Value {
  const [, channels = 0, kernel = 0] = graph.weightShape(`${name}.weight`)
  const { stride = 1, dilation = 1, fillsLast = false } = shape
  const filled = fillsLast ? fillStride(graph, x, stride, 'constant') : x
  const extended = graph.extend(name, filled, (kernel - 1) * dilation + 1 - stride, channels)
  return convolve(graph, name, extended, shape)
}

/** Adds rows at the end up to a multiple of `stride`: zeros, or copies of the last row. */
export function fillStride(graph: Graph, x: Value, stride: number, mode: 'constant' | 'edge'): Value {
  if (stride === 1) return x
  // Of a negative number the operator gives the rest that is missing up to the next multiple.
  const missing = graph.node('Mod', [graph.node('Neg', [graph.sizeOf(x, 0)]), graph.integers(stride)])
  const pads = graph.concat(0, graph.integers(0, 0), missing, graph.integers(0))
  return graph.node('Pad', [x, pads], { mode: { text: mode } })
}

/** The same for a signal that is already extended to the left. */
export function convolve(
  graph: Graph,
  name: string,
  extended: Value,
  { stride = 1, dilation = 1 }: ConvolutionShape = {},
): Value {
  const [outputs = 0, channels = 0, kernel = 0] = graph.weightShape(`${name}.weight`)
  if (stride === 1 && kernel > 1 && outputs < channels) return convolveByTaps(graph, name, extended, dilation)
  // With a stride, so many samples are in one row that the kernel moves from row to row.
  const rows = stride === 1 ? extended : graph.reshape(extended, -1, stride * channels)
  const unfolded = unfold(graph, rows, kernel / stride, dilation)
  const byTap = graph.transpose(graph.weight(`${name}.weight`), 0, 2, 1)
  const matrix = graph.reshape(byTap, outputs, kernel * channels)
  return graph.node('Gemm', [unfolded, matrix, biasOf(graph, name)], { transB: { int: 1 } })
}

/** First every tap's product, then their sum: where fewer channels come out than go in, that moves less than unfolding. */
function convolveByTaps(graph: Graph, name: string, extended: Value, dilation: number): Value {
  const [outputs = 0, channels = 0, kernel = 0] = graph.weightShape(`${name}.weight`)
  const matrix = graph.reshape(graph.transpose(graph.weight(`${name}.weight`), 2, 0, 1), kernel * outputs, channels)
  const products = graph.node('Gemm', [extended, matrix], { transB: { int: 1 } })
  const taps = Array.from({ length: kernel }, (_, tap) => {
    const starts = graph.integers(tap * dilation, tap * outputs)
    const behind = (kernel - 1 - tap) * dilation
    const ends = graph.integers(behind === 0 ? Number.MAX_SAFE_INTEGER : -behind, (tap + 1) * outputs)
    return graph.node('Slice', [products, starts, ends, graph.integers(0, 1)])
  })
  const sum = taps.reduce((total, tap) => graph.add(total, tap))
  const bias = biasOf(graph, name)
  return bias ? graph.add(sum, bias) : sum
}

/** Every row with the rows behind it that the same step of the kernel covers. */
function unfold(graph: Graph, rows: Value, taps: number, dilation: number): Value {
  if (taps === 1) return rows
  const shifted = Array.from({ length: taps }, (_, tap) => {
    const behind = (taps - 1 - tap) * dilation
    return graph.slice(rows, 0, tap * dilation, behind === 0 ? undefined : -behind)
  })
  return graph.concat(1, ...shifted)
}

/**
 * Weights [in, out, 2 × stride]: every input sample makes `stride` output samples and adds to those of the next one, so
 * that an output row is the product of two input samples, and one is all that must be kept.
 */
export function transposedConvolution(graph: Graph, name: string, x: Value): Value {
  const [channels = 0, outputs = 0, kernel = 0] = graph.weightShape(`${name}.weight`)
  const stride = kernel / 2
  const pairs = unfold(graph, graph.extend(name, x, 1, channels), 2, 1)
  const byTap = graph.transpose(graph.weight(`${name}.weight`), 2, 1, 0)
  // A pair begins with the earlier sample, to which the second half of the kernel belongs.
  const halves = [graph.slice(byTap, 0, stride), graph.slice(byTap, 0, 0, stride)]
  const matrix = graph.concat(1, ...halves.map((half) => graph.reshape(half, stride * outputs, channels)))
  const bias = biasOf(graph, name)
  const repeated = bias && graph.reshape(graph.node('Expand', [bias, graph.integers(stride, outputs)]), -1)
  return graph.reshape(graph.node('Gemm', [pairs, matrix, repeated], { transB: { int: 1 } }), -1, outputs)
}

/** The same with one filter per channel: weights [channels, 1, 2 × stride]. */
export function depthwiseTransposedConvolution(graph: Graph, name: string, x: Value): Value {
  const [channels = 0, , kernel = 0] = graph.weightShape(`${name}.weight`)
  const stride = kernel / 2
  const filters = graph.transpose(graph.reshape(graph.weight(`${name}.weight`), channels, kernel), 1, 0)
  const extended = graph.extend(name, x, 1, channels)
  const spread = (samples: Value, filter: Value) =>
    graph.multiply(graph.node('Unsqueeze', [samples, graph.integers(1)]), filter)
  const current = spread(graph.slice(extended, 0, 1), graph.slice(filters, 0, 0, stride))
  const before = spread(graph.slice(extended, 0, 0, -1), graph.slice(filters, 0, stride))
  return graph.reshape(graph.add(current, before), -1, channels)
}

function biasOf(graph: Graph, name: string): Value | undefined {
  return graph.hasWeight(`${name}.bias`) ? graph.weight(`${name}.bias`) : undefined
}
