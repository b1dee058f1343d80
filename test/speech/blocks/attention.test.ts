/** The forms of attention that models differ in, against the sums that define them. */

import * as assert from 'uvu/assert'
import {
  type AttentionShape,
  attend,
  attendMemory,
  attentionInputs,
  keptHeads,
  newRows,
  pastRows,
  type Rotation,
} from '../../../speech/blocks/attention.ts'
import { createKeyValueCache } from '../../../speech/blocks/key-value-cache.ts'
import { createRotaryTable } from '../../../speech/blocks/positions.ts'
import { createStream, type Stream } from '../../../speech/blocks/state-stream.ts'
import { createGraph } from '../../../src/inference/graph.ts'
import { openSession, type TensorData } from '../../../src/inference/session.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the forms of attention')

const headSize = 4
const period = 100

function numbers(count: number, seed: number): Float32Array {
  return Float32Array.from({ length: count }, (_, i) => Math.sin(i * 1.7 + seed) + Math.cos(i * 0.3 * seed))
}

function floats(shape: readonly number[], data: Float32Array): TensorData {
  return { type: 'float32', shape, data }
}

async function openStream(shape: AttentionShape): Promise<Stream> {
  const graph = createGraph('attention')
  const { heads } = keptHeads(shape)
  const input = (name: string, count: number) => graph.input(name, 'float32', ['rows', count * headSize])
  const rows = { query: input('query', shape.heads), key: input('key', heads), value: input('value', heads) }
  const past = pastRows(graph, 0, shape)
  const result = attend(graph, shape, attentionInputs(graph, shape, rows.query, past.keys), past, rows)
  newRows(graph, 0, shape, result)
  graph.output('mixed', result.mixed, 'float32', ['rows', shape.heads * headSize])
  const session = await openSession(graph.encode(), { name: 'attention' })
  const rotary = shape.rotation === 'none' ? undefined : createRotaryTable(headSize, period)
  return createStream({ session, rotary, shape: { ...keptHeads(shape), layers: 1 }, capacity: 1 })
}

/** Component i is turned together with `partner(i)`. */
function turned(vector: Float32Array, position: number, rotation: Rotation): Float32Array {
  if (rotation === 'none') return vector
  const half = headSize / 2
  return vector.map((value, i) => {
    const pair = rotation === 'pairs' ? i >> 1 : i % half
    const isSecond = rotation === 'pairs' ? i % 2 === 1 : i >= half
    const step = rotation === 'pairs' ? 1 : half
    const angle = position * period ** ((-2 * pair) / headSize)
    const partner = vector[isSecond ? i - step : i + step]!
    return value * Math.cos(angle) + (isSecond ? partner : -partner) * Math.sin(angle)
  })
}

/** softmax(q kᵀ / √size) v of one query over keys and values [positions][size]. */
function mix(query: Float32Array, keys: readonly Float32Array[], values: readonly Float32Array[]): Float32Array {
  const weights = keys.map((key) => Math.exp(key.reduce((sum, value, i) => sum + value * query[i]!, 0) / 2))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return Float32Array.from({ length: headSize }, (_, i) =>
    values.reduce((sum, value, at) => sum + (weights[at]! / total) * value[i]!, 0),
  )
}

/** Head `head` of row `row` in rows of so many heads. */
function part(rows: Float32Array, heads: number, row: number, head: number): Float32Array {
  return rows.slice((row * heads + head) * headSize, (row * heads + head + 1) * headSize)
}

function assertClose(actual: Float32Array, expected: Float32Array): void {
  const largest = actual.reduce((most, value, i) => Math.max(most, Math.abs(value - expected[i]!)), 0)
  assert.is(actual.length, expected.length)
  assert.ok(largest < 1e-5, `differs by ${largest}`)
}

for (const rotation of ['pairs', 'halves', 'none'] as const)
  for (const [heads, kept] of [
    [4, 4],
    [4, 2],
    [6, 2],
    [3, 1],
  ] as const)
    test(`${heads} query heads on ${kept} key heads, rotation ${rotation}, in pieces`, async () => {
      const shape: AttentionShape = { heads, keyValueHeads: kept, headSize, rotation }
      const stream = await openStream(shape)
      const pieces = [1, 3, 1, 2]
      const count = 7
      const query = numbers(count * heads * headSize, 1)
      const key = numbers(count * kept * headSize, 2)
      const value = numbers(count * kept * headSize, 3)
      const made: number[] = []
      let at = 0
      for (const size of pieces) {
        const piece = (rows: Float32Array, width: number) =>
          floats([size, width], rows.slice(at * width, (at + size) * width))
        const { mixed } = await stream.run(
          {
            query: piece(query, heads * headSize),
            key: piece(key, kept * headSize),
            value: piece(value, kept * headSize),
          },
          size,
        )
        made.push(...(mixed!.data as Float32Array))
        at += size
      }
      const expected = Array.from({ length: count * heads }, (_, index) => {
        const [row, head] = [Math.floor(index / heads), index % heads]
        const shared = Math.floor(head / (heads / kept))
        const before = Array.from({ length: row + 1 }, (_, position) => position)
        return [
          ...mix(
            turned(part(query, heads, row, head), row, rotation),
            before.map((position) => turned(part(key, kept, position, shared), position, rotation)),
            before.map((position) => part(value, kept, position, shared)),
          ),
        ]
      })
      assertClose(Float32Array.from(made), Float32Array.from(expected.flat()))
    })

for (const kept of [4, 2])
  test(`attention to a memory sees all of it without positions, ${kept} key heads`, async () => {
    const heads = 4
    const shape: AttentionShape = { heads, keyValueHeads: kept, headSize }
    const graph = createGraph('memory')
    const query = graph.input('query', 'float32', ['rows', heads * headSize])
    const memory = (name: string) => graph.input(name, 'float32', ['memory', kept, headSize])
    const mixed = attendMemory(graph, shape, query, { keys: memory('keys'), values: memory('values') })
    graph.output('mixed', mixed, 'float32', ['rows', heads * headSize])
    const session = await openSession(graph.encode(), { name: 'memory' })
    const [rows, positions] = [3, 5]
    const queries = numbers(rows * heads * headSize, 1)
    const keys = numbers(positions * kept * headSize, 2)
    const values = numbers(positions * kept * headSize, 3)
    const outputs = await session.run({
      query: floats([rows, heads * headSize], queries),
      keys: floats([positions, kept, headSize], keys),
      values: floats([positions, kept, headSize], values),
    })
    const all = Array.from({ length: positions }, (_, position) => position)
    const expected = Array.from({ length: rows * heads }, (_, index) => {
      const [row, head] = [Math.floor(index / heads), index % heads]
      const shared = Math.floor(head / (heads / kept))
      return [
        ...mix(
          part(queries, heads, row, head),
          all.map((position) => part(keys, kept, position, shared)),
          all.map((position) => part(values, kept, position, shared)),
        ),
      ]
    })
    assertClose(outputs['mixed']!.data as Float32Array, Float32Array.from(expected.flat()))
    await session.close()
  })

test('a cache that starts from a copy of another shows attention the same rows', () => {
  const shape = { layers: 2, heads: 1, headSize }
  const original = createKeyValueCache(shape, 2)
  for (const [at, { data }] of Object.values(original.targets(2)).entries()) (data as Float32Array).set(numbers(8, at))
  original.append(2)
  const started = createKeyValueCache(shape, 1)
  started.reset(original.copy())
  assert.equal(started.feeds(), original.feeds())
})

test.run()
