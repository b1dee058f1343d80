/** The operators that the speech models are made of, by their names in ONNX. */
import type { Nodes, Value } from './nodes.ts'

/** How the Gaussian error linear unit is computed: exactly, or by the tanh approximation. */
export type GeluForm = 'erf' | 'tanh'

/** The operators as methods that add to a graph. */
export function operatorsOf(graph: Nodes) {
  const operators = {
    /** a + b, element by element; the shorter shape is repeated as in NumPy. */
    add: (a: Value, b: Value) => graph.node('Add', [a, b]),
    /** a · b, element by element; the shorter shape is repeated as in NumPy. */
    multiply: (a: Value, b: Value) => graph.node('Mul', [a, b]),
    /** x · Φ(x), Φ being the normal distribution (Hendrycks & Gimpel 2016, arXiv:1606.08415). */
    gelu: (x: Value, form: GeluForm) =>
      graph.node('Gelu', [x], { approximate: { text: form === 'tanh' ? 'tanh' : 'none' } }),
    silu: (x: Value) => operators.multiply(x, graph.node('Sigmoid', [x])),
    /** Exponential linear unit (alpha 1) as max(x, exp(min(x, 0)) - 1): half the time of that operator. */
    elu(x: Value): Value {
      const negative = graph.node('Exp', [graph.node('Min', [x, operators.scalar(0)])])
      return graph.node('Max', [x, graph.node('Sub', [negative, operators.scalar(1)])])
    },
    /** A number as float32 without dimensions. */
    scalar: (value: number) => graph.constant('float32', [], Float32Array.of(value)),
    /** Whole numbers as int64 [count], as axes and sizes are given. */
    integers: (...values: number[]) => graph.constant('int64', [values.length], BigInt64Array.from(values, BigInt)),
    /** In `shape`, 0 keeps a dimension and -1 takes the rest. */
    reshape: (x: Value, ...shape: number[]) => graph.node('Reshape', [x, operators.integers(...shape)]),
    transpose: (x: Value, ...order: number[]) => graph.node('Transpose', [x], { perm: { ints: order } }),
    /** The parts one behind the other along an axis; their other dimensions are equal. */
    concat: (axis: number, ...parts: Value[]) => graph.node('Concat', parts, { axis: { int: axis } }),
    /** Equal parts along an axis. */
    split: (x: Value, axis: number, parts: number) =>
      graph.nodes('Split', [x], parts, { axis: { int: axis }, num_outputs: { int: parts } }),
    /** The elements from `start` up to `end` of one axis; negative positions count from its end, no `end` means up to it. */
    slice(x: Value, axis: number, start: number, end?: number): Value {
      const last = end ?? Number.MAX_SAFE_INTEGER
      return graph.node('Slice', [x, operators.integers(start), operators.integers(last), operators.integers(axis)])
    },
    /** The size of one dimension, as int64 [1]. */
    sizeOf: (x: Value, axis: number) => graph.node('Shape', [x], { start: { int: axis }, end: { int: axis + 1 } }),
    /** Normalises the last axis. Without weights it only subtracts the mean and divides by the deviation. */
    layerNorm: (x: Value, epsilon: number, scale: Value, bias?: Value) =>
      graph.node('LayerNormalization', [x, scale, bias], { axis: { int: -1 }, epsilon: { float: epsilon } }),
    /** x / √(mean of x² + epsilon) · scale along the last axis (Zhang & Sennrich 2019, arXiv:1910.07467): nothing is subtracted. */
    rmsNorm(x: Value, epsilon: number, scale: Value): Value {
      const attributes = { axis: { int: -1 }, epsilon: { float: epsilon }, stash_type: { int: 1 } }
      return graph.node('SimplifiedLayerNormalization', [x, scale], attributes)
    },
  }
  return operators
}
