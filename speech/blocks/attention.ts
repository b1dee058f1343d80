/**
 * Causal self-attention over an append-only cache. Keys and values lie as [position, head, size], so that new rows are
 * appended where the old ones end, and both products read them in place: no row is ever copied to attend to it.
 */
import { contributed, type Graph, type Value } from '../../src/inference/graph.ts'
import { add, concat, integers, multiply, reshape, scalar, sizeOf, transpose } from '../../src/inference/operators.ts'

export interface HeadShape {
  readonly heads: number
  readonly headSize: number
}

/** The inputs that all layers of one transformer share. */
export interface AttentionInputs {
  /** float32 [rows, past + rows], added to the scores: 0 where a row may look, -Infinity where it may not. */
  readonly mask: Value
  /** float32 [rows, headSize / 2]: the rotary angles of the rows' positions. */
  readonly cosines: Value
  readonly sines: Value
  /** int64 [2]: how many positions are past, how many are new. */
  readonly sizes: Value
}

/** The rows of one layer that were computed in earlier calls: float32 [past, heads, headSize]. */
export interface PastRows {
  readonly keys: Value
  readonly values: Value
}

export interface AttentionResult {
  /** float32 [rows, heads × headSize], before the output projection. */
  readonly mixed: Value
  /** float32 [rows, heads, headSize]: the new rows, to be kept; keys are rotated. */
  readonly keys: Value
  readonly values: Value
}

/** Declares the inputs `mask`, `cosines` and `sines`; `rows` is any value with one row per new position. */
export function attentionInputs(graph: Graph, { headSize }: HeadShape, rows: Value, past: Value): AttentionInputs {
  return {
    mask: graph.input('mask', 'float32', ['rows', 'all']),
    cosines: graph.input('cosines', 'float32', ['rows', headSize / 2]),
    sines: graph.input('sines', 'float32', ['rows', headSize / 2]),
    sizes: concat(graph, 0, sizeOf(graph, past, 0), sizeOf(graph, rows, 0)),
  }
}

/** Declares the inputs `past_keys_N` and `past_values_N` of a layer. */
export function pastRows(graph: Graph, layer: number, { heads, headSize }: HeadShape): PastRows {
  const shape = ['past', heads, headSize]
  return {
    keys: graph.input(`past_keys_${layer}`, 'float32', shape),
    values: graph.input(`past_values_${layer}`, 'float32', shape),
  }
}

/** Makes a layer's new rows the outputs `keys_N` and `values_N`. */
export function newRows(graph: Graph, layer: number, { heads, headSize }: HeadShape, rows: AttentionResult): void {
  graph.output(`keys_${layer}`, rows.keys, 'float32', ['rows', heads, headSize])
  graph.output(`values_${layer}`, rows.values, 'float32', ['rows', heads, headSize])
}

/** softmax(q kᵀ / √headSize + mask) v; `query`, `key` and `value` are float32 [rows, heads × headSize], not yet rotated. */
export function attend(
  graph: Graph,
  shape: HeadShape,
  inputs: AttentionInputs,
  past: PastRows,
  rows: { readonly query: Value; readonly key: Value; readonly value: Value },
): AttentionResult {
  const toHeads = (x: Value) => reshape(graph, x, -1, shape.heads, shape.headSize)
  const scaled = multiply(graph, rows.query, scalar(graph, 1 / Math.sqrt(shape.headSize)))
  const queries = toHeads(rotate(graph, shape, inputs, scaled))
  const keys = toHeads(rotate(graph, shape, inputs, rows.key))
  const values = toHeads(rows.value)

  const scores = concat(graph, 2, products(graph, queries, past.keys), products(graph, queries, keys))
  const weights = graph.node('Softmax', [add(graph, scores, inputs.mask)], { axis: { int: -1 } })
  const [pastWeights, newWeights] = graph.nodes('Split', [weights, inputs.sizes], 2, { axis: { int: 2 } })
  const mixed = add(graph, sums(graph, pastWeights!, past.values), sums(graph, newWeights!, values))
  return { mixed: reshape(graph, transpose(graph, mixed, 1, 0, 2), -1, shape.heads * shape.headSize), keys, values }
}

/** Rotary position embedding of rows [rows, heads × headSize] on neighbouring pairs (Su et al. 2021, arXiv:2104.09864). */
export function rotate(
  graph: Graph,
  { heads }: HeadShape,
  { cosines, sines }: Pick<AttentionInputs, 'cosines' | 'sines'>,
  x: Value,
): Value {
  const batch = graph.node('Unsqueeze', [x, integers(graph, 0)])
  const attributes = { interleaved: { int: 1 }, num_heads: { int: heads } }
  const rotated = graph.node('RotaryEmbedding', [batch, integers(graph, 0), cosines, sines], attributes, contributed)
  return graph.node('Squeeze', [rotated, integers(graph, 0)])
}

/** Scores [heads, rows, positions] of queries [rows, heads, size] against keys [positions, heads, size]. */
function products(graph: Graph, queries: Value, keys: Value): Value {
  const attributes = { transB: { int: 1 }, transBatchA: { int: 1 }, transBatchB: { int: 1 } }
  return graph.node('FusedMatMul', [queries, keys], attributes, contributed)
}

/** Weighted sums [heads, rows, size] of values [positions, heads, size]. */
function sums(graph: Graph, weights: Value, values: Value): Value {
  return graph.node('FusedMatMul', [weights, values], { transBatchB: { int: 1 } }, contributed)
}
