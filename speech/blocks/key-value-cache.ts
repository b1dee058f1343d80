/** The rows that attention looks back on, kept in arrays that grow at their end, so that a step moves nothing but its own rows. */

import type { TensorData } from '../../src/inference/inference.ts'
import type { HeadShape } from './attention.ts'

export interface CacheShape extends HeadShape {
  readonly layers: number
  /** A row sees itself and this many minus one before it; without a limit it sees all. */
  readonly context?: number
}

/** The rows of every layer, copied out of a cache: float32 [rows, heads, headSize] each. */
export interface CacheRows {
  readonly rows: number
  readonly keys: readonly Float32Array[]
  readonly values: readonly Float32Array[]
}

export type KeyValueCache = ReturnType<typeof createKeyValueCache>

/** An empty cache for `initial` rows; it grows when more are appended. */
export function createKeyValueCache(shape: CacheShape, initial: number) {
  const { layers, heads, headSize, context = Number.POSITIVE_INFINITY } = shape
  const width = heads * headSize
  let capacity = Math.max(1, initial)
  let slabs = Array.from({ length: layers * 2 }, () => new Float32Array(capacity * width))
  const empty = slabs.map(() => new Float32Array(width))
  let start = 0
  let past = 0
  let position = 0

  return {
    /** How many rows were appended since the start: the position of the next one. */
    get position() {
      return position
    },
    /** How many of them are still in sight of the next one. */
    get past() {
      return past
    },
    /**
     * The inputs `past_keys_N` and `past_values_N`, in place. An empty past is one row of zeros, which `causalMask` hides:
     * the runtime's fused product stops the process on no rows at all.
     */
    feeds: () => (past > 0 ? tensors(slabs, 'past_', start, past) : tensors(empty, 'past_', 0, 1)),
    /** Where a session writes the outputs `keys_N` and `values_N` for so many new rows; call `append` afterwards. */
    targets(rows: number) {
      grow(rows)
      return tensors(slabs, '', start + past, rows)
    },
    append(rows: number) {
      position += rows
      const seen = Math.min(past + rows, context - 1)
      start += past + rows - seen
      past = seen
    },
    /** Starts again from these rows, the last one before position `next` (their number by default), or from nothing. */
    reset(rows?: CacheRows, next?: number) {
      start = 0
      past = 0
      position = 0
      if (!rows) return
      grow(rows.rows)
      for (let layer = 0; layer < layers; layer++) {
        slabs[layer * 2]!.set(rows.keys[layer]!)
        slabs[layer * 2 + 1]!.set(rows.values[layer]!)
      }
      past = rows.rows
      position = next ?? rows.rows
    },
    /** A copy of all rows from position `from` up to `to`; they must be in sight. */
    copy(from = 0, to = position): CacheRows {
      const first = start + past - position
      const part = (index: number) => slabs[index]!.slice((first + from) * width, (first + to) * width)
      return {
        rows: to - from,
        keys: Array.from({ length: layers }, (_, layer) => part(layer * 2)),
        values: Array.from({ length: layers }, (_, layer) => part(layer * 2 + 1)),
      }
    },
  }

  function tensors(
    arrays: readonly Float32Array[],
    prefix: string,
    row: number,
    rows: number,
  ): Record<string, TensorData> {
    const named: Record<string, TensorData> = {}
    for (const [index, slab] of arrays.entries()) {
      const name = `${prefix}${index % 2 === 0 ? 'keys' : 'values'}_${index >> 1}`
      const data = slab.subarray(row * width, (row + rows) * width)
      named[name] = { type: 'float32', shape: [rows, heads, headSize], data }
    }
    return named
  }

  /** Rows out of sight are dropped first; the others are moved only when the end of the arrays is reached. */
  function grow(rows: number): void {
    if (start + past + rows <= capacity) return
    if (past + rows > capacity) {
      capacity = Math.max(past + rows, capacity * 2)
      slabs = slabs.map((slab) => {
        const larger = new Float32Array(capacity * width)
        larger.set(slab.subarray(start * width, (start + past) * width))
        return larger
      })
    } else for (const slab of slabs) slab.copyWithin(0, start * width, (start + past) * width)
    start = 0
  }
}
