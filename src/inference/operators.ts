/** The operators that the speech models are made of, by their names in ONNX. */
import type { Graph, Value } from './graph.ts'

/** How the Gaussian error linear unit is computed: exactly, or by the tanh approximation. */
export type GeluForm = 'erf' | 'tanh'

/** a + b, element by element; the shorter shape is repeated as in NumPy. */
export function add(graph: Graph, a: Value, b: Value): Value {
  return graph.node('Add', [a, b])
}

/** a · b, element by element; the shorter shape is repeated as in NumPy. */
export function multiply(graph: Graph, a: Value, b: Value): Value {
  return graph.node('Mul', [a, b])
}

/** x · Φ(x), Φ being the normal distribution (Hendrycks & Gimpel 2016, arXiv:1606.08415). */
export function gelu(graph: Graph, x: Value, form: GeluForm): Value {
  return graph.node('Gelu', [x], { approximate: { text: form === 'tanh' ? 'tanh' : 'none' } })
}

/** x · sigmoid(x). */
export function silu(graph: Graph, x: Value): Value {
  return multiply(graph, x, graph.node('Sigmoid', [x]))
}

/**
 * Exponential linear unit with alpha 1, as max(x, exp(min(x, 0)) - 1), since exp(x) - 1 is never below x.
 * These four take half the time of the operator of that name.
 */
export function elu(graph: Graph, x: Value): Value {
  const negative = graph.node('Exp', [graph.node('Min', [x, scalar(graph, 0)])])
  return graph.node('Max', [x, graph.node('Sub', [negative, scalar(graph, 1)])])
}

/** A number as float32 without dimensions. */
export function scalar(graph: Graph, value: number): Value {
  return graph.constant('float32', [], Float32Array.of(value))
}

/** Whole numbers as int64 [count], as axes and sizes are given. */
export function integers(graph: Graph, ...values: number[]): Value {
  return graph.constant('int64', [values.length], BigInt64Array.from(values, BigInt))
}

/** In `shape`, 0 keeps a dimension and -1 takes the rest. */
export function reshape(graph: Graph, x: Value, ...shape: number[]): Value {
  return graph.node('Reshape', [x, integers(graph, ...shape)])
}

/** The dimensions in another order. */
export function transpose(graph: Graph, x: Value, ...order: number[]): Value {
  return graph.node('Transpose', [x], { perm: { ints: order } })
}

/** The parts one behind the other along an axis; their other dimensions are equal. */
export function concat(graph: Graph, axis: number, ...parts: Value[]): Value {
  return graph.node('Concat', parts, { axis: { int: axis } })
}

/** Equal parts along an axis. */
export function split(graph: Graph, x: Value, axis: number, parts: number): Value[] {
  return graph.nodes('Split', [x], parts, { axis: { int: axis }, num_outputs: { int: parts } })
}

/** The elements from `start` up to `end` of one axis; negative positions count from its end, no `end` means up to it. */
export function slice(graph: Graph, x: Value, axis: number, start: number, end?: number): Value {
  const last = end ?? Number.MAX_SAFE_INTEGER
  return graph.node('Slice', [x, integers(graph, start), integers(graph, last), integers(graph, axis)])
}

/** The size of one dimension, as int64 [1]. */
export function sizeOf(graph: Graph, x: Value, axis: number): Value {
  return graph.node('Shape', [x], { start: { int: axis }, end: { int: axis + 1 } })
}

/** Normalises the last axis. Without weights it only subtracts the mean and divides by the deviation. */
export function layerNorm(graph: Graph, x: Value, epsilon: number, scale: Value, bias?: Value): Value {
  return graph.node('LayerNormalization', [x, scale, bias], { axis: { int: -1 }, epsilon: { float: epsilon } })
}

/** x / √(mean of x² + epsilon) · scale along the last axis (Zhang & Sennrich 2019, arXiv:1910.07467): nothing is subtracted. */
export function rmsNorm(graph: Graph, x: Value, epsilon: number, scale: Value): Value {
  const attributes = { axis: { int: -1 }, epsilon: { float: epsilon }, stash_type: { int: 1 } }
  return graph.node('SimplifiedLayerNormalization', [x, scale], attributes)
}
