/** Codes of a codec, there and back, and matrices that lie stacked in one tensor. */

import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type Codebook, nearestCodes, sumOfEntries } from '../../../speech/blocks/residual-vectors.ts'
import { createGraph } from '../../../src/inference/graph.ts'
import { openTensorFile } from '../../../src/inference/safetensors.ts'
import { openSession } from '../../../src/inference/session.ts'
import { partName, withParts } from '../../../src/inference/tensor-parts.ts'
import { writeTensorFile } from '../../../src/inference/tensor-writer.ts'
import { createWeights } from '../../../src/inference/weights.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('residual vectors')

const [entries, size] = [4, 2]
/** Of the first book, entry 3 was never used: its count is lifted to 0.00001. */
const counts = [Float32Array.of(1, 2, 4, 0), Float32Array.of(1, 1, 1, 1)]
const sums = [Float32Array.of(1, 0, 0, 4, -8, 0, 0, -0.0001), Float32Array.of(0.1, 0, 0, 0.1, -0.1, 0, 0, 0)]
const vectors = [
  [1, 0, 0, 2, -2, 0, 0, -10],
  [0.1, 0, 0, 0.1, -0.1, 0, 0, 0],
]

async function open() {
  const folder = temporaryFolder()
  const path = join(folder, 'books.safetensors')
  await writeTensorFile(path, [
    ...counts.map((data, book) => ({
      name: `${book}.counts`,
      dtype: 'F32' as const,
      shape: [entries],
      data: () => data,
    })),
    ...sums.map((data, book) => ({
      name: `${book}.sums`,
      dtype: 'F32' as const,
      shape: [entries, size],
      data: () => data,
    })),
    { name: 'stack', dtype: 'F32', shape: [6, 2], data: () => Float32Array.from({ length: 12 }, (_, i) => i) },
  ])
  return { folder, file: await openTensorFile(path) }
}

const books: readonly Codebook[] = [0, 1].map((book) => ({ sums: `${book}.sums`, counts: `${book}.counts` }))

test('a frame is the sum of its entries, and its codes are found again from it', async () => {
  const { folder, file } = await open()
  const graph = createGraph('books')
  const weights = createWeights(graph, file)
  const codes = graph.input('codes', 'int64', ['frames', 3])
  const sum = sumOfEntries(weights, books, codes, 1)
  graph.output('sum', sum, 'float32', ['frames', size])
  graph.output('found', nearestCodes(weights, books, sum), 'int64', ['frames', 2])
  const session = await openSession(graph.encode(), { name: 'books', weightsFolder: folder })
  const frames = Array.from({ length: entries * entries }, (_, i) => [9, Math.floor(i / entries), i % entries])
  const data = BigInt64Array.from(frames.flat(), BigInt)
  const { sum: made, found } = await session.run({ codes: { type: 'int64', shape: [frames.length, 3], data } })
  for (const [index, [, first, second]] of frames.entries())
    for (let at = 0; at < size; at++) {
      const expected = vectors[0]![first! * size + at]! + vectors[1]![second! * size + at]!
      assert.ok(Math.abs((made!.data[index * size + at] as number) - expected) < 1e-5, `frame ${index}`)
    }
  assert.equal(
    [...(found!.data as BigInt64Array)].map(Number),
    frames.flatMap(([, first, second]) => [first, second]),
  )
  await session.close()
  await file.close()
})

test('parts of a stacked matrix have their own names, rows and places in the file', async () => {
  const { folder, file } = await open()
  const parts = withParts(file, (name) => (name === 'stack' ? 3 : undefined))
  assert.is(parts.tensors.has('stack'), false)
  assert.equal(parts.tensors.get(partName('stack', 2))?.shape, [2, 2])
  assert.equal([...(await parts.floats(partName('stack', 1)))], [4, 5, 6, 7])
  assert.equal([...(await parts.floats('0.counts'))], [1, 2, 4, 0])
  const graph = createGraph('parts')
  const x = graph.input('x', 'float32', ['rows', 2])
  graph.output('y', createWeights(graph, parts).linear(x, partName('stack', 2)), 'float32', ['rows', 2])
  const session = await openSession(graph.encode(), { name: 'parts', weightsFolder: folder })
  const { y } = await session.run({ x: { type: 'float32', shape: [1, 2], data: Float32Array.of(1, 10) } })
  assert.equal([...(y!.data as Float32Array)], [98, 120])
  await session.close()
  await file.close()
})

test.run()
