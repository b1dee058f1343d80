/** Runs a graph piece by piece: its attention cache and its convolutions' states stay here between the pieces. */

import type { KeptState, Session, TensorData, Tensors } from '../../src/inference/inference.ts'
import { type CacheRows, type CacheShape, createKeyValueCache } from './key-value-cache.ts'
import { causalMask, type RotaryTable } from './positions.ts'

export interface StreamParts {
  readonly session: Session
  readonly shape: CacheShape
  /** Absent where positions are not rotated. */
  readonly rotary?: RotaryTable | undefined
  readonly states?: readonly KeptState[]
  /** Rows that come at the same time and look equally far back; every piece has a multiple of them. Default: 1. */
  readonly rowsTogether?: number
  /** Initial rows of the cache. */
  readonly capacity?: number
}

export type Stream = ReturnType<typeof createStream>

export interface SavedStream {
  readonly rows: CacheRows
  /** The position of the next row: those that are kept were rotated by theirs. */
  readonly position: number
  readonly kept: Readonly<Record<string, TensorData>>
}

/** A stream at the start of a signal. Streams of one session do not disturb each other. */
export function createStream({ session, shape, rotary, states = [], rowsTogether = 1, capacity = 64 }: StreamParts) {
  const cache = createKeyValueCache(shape, capacity)
  let kept: Readonly<Record<string, TensorData>> = silence(states)
  return {
    cache,
    /** Begins a new signal, behind the given rows if there are any. */
    reset(start?: CacheRows) {
      cache.reset(start)
      kept = silence(states)
    },
    /** Copies the whole state on which later output depends. */
    save: (): SavedStream => ({
      rows: cache.copy(cache.position - cache.past),
      position: cache.position,
      kept: copied(kept),
    }),
    /** Goes on behind a saved signal, any number of times. */
    restore(saved: SavedStream) {
      cache.reset(saved.rows, saved.position)
      kept = saved.kept
    },
    /** Runs the graph on a piece that makes `rows` new rows of attention; the outputs are those that are not kept. */
    async run(inputs: Tensors, rows: number) {
      // Growing can move the past, so it comes before the past is read.
      const into = cache.targets(rows)
      const position = rotary?.feeds(cache.position, rows)
      const mask = causalMask(rows, cache.past, shape.context, rowsTogether)
      const feeds = { ...inputs, ...cache.feeds(), ...position, mask, ...kept }
      const outputs = await session.run(feeds, into)
      cache.append(rows)
      kept = Object.fromEntries(states.map(({ name }) => [`previous_${name}`, outputs[`next_${name}`]!]))
      return outputs
    },
  }
}

/** The runtime may hand out the memory of its outputs again. */
function copied(tensors: Readonly<Record<string, TensorData>>): Record<string, TensorData> {
  return Object.fromEntries(
    Object.entries(tensors).map(([name, tensor]) => [name, { ...tensor, data: tensor.data.slice() } as TensorData]),
  )
}

function silence(states: readonly KeptState[]): Record<string, TensorData> {
  const size = (shape: readonly number[]) => shape.reduce((product, dimension) => product * dimension, 1)
  return Object.fromEntries(
    states.map(({ name, shape }) => [
      `previous_${name}`,
      { type: 'float32', shape, data: new Float32Array(size(shape)) } satisfies TensorData,
    ]),
  )
}
