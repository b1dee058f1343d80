/**
 * Causal self-attention over an append-only cache. Keys and values lie as [position, head, size], so that new rows are
 * appended where the old ones end, and both products read them in place: no row is ever copied to attend to it.
 */
import { contributed, type Graph, type Value } from '../../src/inference/inference.ts'

export interface HeadShape {
  readonly heads: number
  readonly headSize: number
}

/**
 * How positions turn queries and keys (Su et al. 2021, arXiv:2104.09864): component 2i with 2i + 1, component i of the first
 * half with component i of the second, or not at all.
 */
export type Rotation = 'pairs' | 'halves' | 'none'

export interface AttentionShape extends HeadShape {
  /** Heads of keys and values, each for equally many query heads in order (Ainslie et al. 2023, arXiv:2305.13245). Default: `heads`. */
  readonly keyValueHeads?: number | undefined
  /** Default: `pairs`. */
  readonly rotation?: Rotation | undefined
}

/** The heads that a cache keeps rows of. */
export function keptHeads({ heads, keyValueHeads = heads, headSize }: AttentionShape): HeadShape {
  return { heads: keyValueHeads, headSize }
}

/** The inputs that all layers of one transformer share. */
export type AttentionInputs = ReturnType<typeof attentionInputs>

export interface RotaryAngles {
  readonly cosines: Value
  readonly sines: Value
}

/** The rows of one layer that were computed in earlier calls: float32 [past, key-value heads, headSize]. */
export type PastRows = ReturnType<typeof pastRows>

export type AttentionResult = ReturnType<typeof attend>

/** Declares the inputs `mask` and, with rotation, `cosines` and `sines`; `rows` is any value with one row per new position. */
export function attentionInputs(graph: Graph, shape: AttentionShape, rows: Value, past: Value) {
  const { headSize, rotation } = shape
  const angle = (name: string) => graph.input(name, 'float32', ['rows', headSize / 2])
  return {
    /** float32 [rows, past + rows], added to the scores: 0 where a row may look, -Infinity where it may not. */
    mask: graph.input('mask', 'float32', ['rows', 'all']),
    /** float32 [rows, headSize / 2]: the rotary angles of the rows' positions; absent without rotation. */
    angles: rotation === 'none' ? undefined : { cosines: angle('cosines'), sines: angle('sines') },
    /** int64 [2]: how many positions are past, how many are new. */
    sizes: graph.concat(0, graph.sizeOf(past, 0), graph.sizeOf(rows, 0)),
  }
}

/** Declares the inputs `past_keys_N` and `past_values_N` of a layer. */
export function pastRows(graph: Graph, layer: number, attention: AttentionShape) {
  const { heads, headSize } = keptHeads(attention)
  const shape = ['past', heads, headSize]
  return {
    keys: graph.input(`past_keys_${layer}`, 'float32', shape),
    values: graph.input(`past_values_${layer}`, 'float32', shape),
  }
}

/** Makes a layer's new rows the outputs `keys_N` and `values_N`. */
export function newRows(graph: Graph, layer: number, attention: AttentionShape, rows: AttentionResult): void {
  const { heads, headSize } = keptHeads(attention)
  graph.output(`keys_${layer}`, rows.keys, 'float32', ['rows', heads, headSize])
  graph.output(`values_${layer}`, rows.values, 'float32', ['rows', heads, headSize])
}

/** softmax(q kᵀ / √headSize + mask) v of unrotated float32 [rows, heads × headSize]; k and v have key-value heads. */
export function attend(
  graph: Graph,
  shape: AttentionShape,
  inputs: AttentionInputs,
  past: PastRows,
  rows: { readonly query: Value; readonly key: Value; readonly value: Value },
) {
  const kept = keptHeads(shape)
  const turned = (x: Value, { heads }: HeadShape) =>
    inputs.angles ? rotate(graph, { ...shape, heads }, inputs.angles, x) : x
  const queries = byHead(graph, shape, turned(scaledQuery(graph, shape, rows.query), shape))
  /** float32 [rows, key-value heads, headSize]: the new rows, to be kept; keys are rotated. */
  const keys = toHeads(graph, kept, turned(rows.key, kept))
  const values = toHeads(graph, kept, rows.value)

  const scores = graph.concat(2, products(graph, shape, queries, past.keys), products(graph, shape, queries, keys))
  const weights = graph.node('Softmax', [graph.add(scores, inputs.mask)], { axis: { int: -1 } })
  const [pastWeights, newWeights] = graph.nodes('Split', [weights, inputs.sizes], 2, { axis: { int: 2 } })
  const mixed = graph.add(sums(graph, shape, pastWeights!, past.values), sums(graph, shape, newWeights!, values))
  return {
    /** float32 [rows, heads × headSize], before the output projection. */
    mixed: joinHeads(graph, shape, mixed),
    keys,
    values,
  }
}

/**
 * softmax(q kᵀ / √headSize) v over all rows of a memory, without mask or positions: `query` is float32
 * [rows, heads × headSize], the memory's keys and values are [memory rows, key-value heads, headSize].
 */
export function attendMemory(graph: Graph, shape: AttentionShape, query: Value, memory: PastRows): Value {
  const queries = byHead(graph, shape, scaledQuery(graph, shape, query))
  const weights = graph.node('Softmax', [products(graph, shape, queries, memory.keys)], { axis: { int: -1 } })
  return joinHeads(graph, shape, sums(graph, shape, weights, memory.values))
}

/** Rotary position embedding of rows [rows, heads × headSize]. */
function rotate(graph: Graph, { heads, rotation }: AttentionShape, { cosines, sines }: RotaryAngles, x: Value): Value {
  const batch = graph.node('Unsqueeze', [x, graph.integers(0)])
  const attributes = { interleaved: { int: rotation === 'halves' ? 0 : 1 }, num_heads: { int: heads } }
  const rotated = graph.node('RotaryEmbedding', [batch, graph.integers(0), cosines, sines], attributes, contributed)
  return graph.node('Squeeze', [rotated, graph.integers(0)])
}

function scaledQuery(graph: Graph, { headSize }: HeadShape, query: Value): Value {
  return graph.multiply(query, graph.scalar(1 / Math.sqrt(headSize)))
}

function toHeads(graph: Graph, { heads, headSize }: HeadShape, x: Value): Value {
  return graph.reshape(x, -1, heads, headSize)
}

function isGrouped({ heads, keyValueHeads = heads }: AttentionShape): boolean {
  return keyValueHeads !== heads
}

/** Queries for products: [rows, heads, size], or with shared keys [key-value heads, sharing heads × rows, size]. */
function byHead(graph: Graph, shape: AttentionShape, queries: Value): Value {
  const split = toHeads(graph, shape, queries)
  if (!isGrouped(shape)) return split
  return graph.reshape(graph.transpose(split, 1, 0, 2), keptHeads(shape).heads, -1, shape.headSize)
}

/** Scores [heads, rows, positions] of queries from `byHead` against keys [positions, key-value heads, size]. */
function products(graph: Graph, shape: AttentionShape, queries: Value, keys: Value): Value {
  const grouped = isGrouped(shape)
  const attributes = { transB: { int: 1 }, transBatchA: { int: grouped ? 0 : 1 }, transBatchB: { int: 1 } }
  const scores = graph.node('FusedMatMul', [queries, keys], attributes, contributed)
  return grouped ? graph.reshape(scores, shape.heads, -1, 0) : scores
}

/** Weighted sums [heads, rows, size] of values [positions, key-value heads, size]. */
function sums(graph: Graph, shape: AttentionShape, weights: Value, values: Value): Value {
  const grouped = isGrouped(shape)
  const shared = grouped ? graph.reshape(weights, keptHeads(shape).heads, -1, 0) : weights
  const sum = graph.node('FusedMatMul', [shared, values], { transBatchB: { int: 1 } }, contributed)
  return grouped ? graph.reshape(sum, shape.heads, -1, shape.headSize) : sum
}

/** [heads, rows, size] as [rows, heads × size]. */
function joinHeads(graph: Graph, { heads, headSize }: HeadShape, mixed: Value): Value {
  return graph.reshape(graph.transpose(mixed, 1, 0, 2), -1, heads * headSize)
}
