import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { readVectors } from '../../src/word-vectors/read-vectors.ts'
import { encodeVectors, type TrainedVectors } from '../../src/word-vectors/vector-file.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { fc } from '../helpers/properties.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the file of word vectors')
const folder = temporaryFolder()
const path = join(folder, 'vectors.bin')

const trained = fc
  .record({
    dimension: fc.integer({ min: 1, max: 70 }),
    words: fc.uniqueArray(fc.stringMatching(/^[a-zé_]{1,12}$/), { minLength: 1, maxLength: 30 }),
  })
  .chain(({ dimension, words }) =>
    fc.record({
      dimension: fc.constant(dimension),
      words: fc.constant(words),
      weights: fc.float32Array({ minLength: words.length, maxLength: words.length, min: 0, max: 9, noNaN: true }),
      vectors: fc.float32Array({
        minLength: words.length * dimension,
        maxLength: words.length * dimension,
        min: -1000,
        max: 1000,
        noNaN: true,
      }),
    }),
  )

test('trained vectors are read back: words, weights, and unit vectors to one part in 15 of their largest value', () =>
  fc.assert(
    fc.property(trained, (given) => {
      writeFileSync(path, encodeVectors(given))
      const read = readVectors(path)
      assert.is(read.dimension, given.dimension)
      given.words.forEach((word, row) => {
        assert.is(read.row(word), row)
        assert.is(read.weight(row), given.weights[row])
        const found = new Float32Array(given.dimension)
        read.addTo(found, row, 1)
        const expected = unit(given, row)
        const largest = Math.max(...expected.map(Math.abs))
        found.forEach((value, at) => {
          assert.ok(Math.abs(value - expected[at]!) <= largest / 15 / 2 + 1e-6, `${value} for ${expected[at]}`)
        })
      })
      assert.is(read.row('not-a-word'), undefined)
    }),
    { numRuns: 50 },
  ))

test('files of different vectors have different digests, the same ones the same', () => {
  const digestOf = (value: number) => {
    writeFileSync(path, encodeVectors({ ...one, vectors: Float32Array.of(value, 1) }))
    return readVectors(path).digest
  }
  assert.is(digestOf(0.5), digestOf(0.5))
  assert.is.not(digestOf(0.5), digestOf(0.7))
})

test('a file that breaks off anywhere, or is none of ours, is refused', () => {
  const bytes = encodeVectors(one)
  for (let length = 0; length < bytes.length; length += 7) {
    writeFileSync(path, bytes.subarray(0, length))
    const reason = length <= bytes.indexOf(10) ? /no word vectors for this build/ : /breaks off/
    assert.throws(() => readVectors(path), reason, `at ${length} of ${bytes.length} bytes`)
  }
  writeFileSync(path, '{"format":"something else"}\n')
  assert.throws(() => readVectors(path), /no word vectors for this build/)
})

test('vectors are those of the file that was opened, before and after all of them are in memory', async () => {
  const count = 200
  const words = Array.from({ length: count }, (_, row) => `word${row}`)
  const vectors = Float32Array.from({ length: count * 2 }, (_, at) => Math.sin(at))
  writeFileSync(path, encodeVectors({ dimension: 2, words, weights: new Float32Array(count), vectors }))
  const read = readVectors(path)
  const rowOf = (row: number) => {
    const sum = new Float32Array(2)
    read.addTo(sum, row, 1)
    return [...sum]
  }
  const before = words.slice(0, 50).map((_, row) => rowOf(row))
  writeFileSync(`${path}.new`, encodeVectors(one))
  renameSync(`${path}.new`, path)
  for (let round = 0; round < 20; round++) {
    assert.equal(
      words.slice(0, 50).map((_, row) => rowOf(row)),
      before,
    )
    words.forEach((word, row) => {
      assert.is(read.row(word), row)
      assert.ok(Math.abs(Math.hypot(...rowOf(row)) - 1) < 0.02)
    })
    // Reading goes on beside the work.
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.is(readVectors(path).row('word0'), undefined)
})

test('a word that stands in the list twice is refused', () => {
  assert.throws(() => encodeVectors({ ...one, words: ['word', 'word'] }), /twice/)
})

const one: TrainedVectors = {
  dimension: 2,
  words: ['word'],
  weights: Float32Array.of(1),
  vectors: Float32Array.of(3, 4),
}

function unit({ dimension, vectors }: TrainedVectors, row: number): Float32Array {
  const vector = vectors.subarray(row * dimension, (row + 1) * dimension)
  const length = Math.hypot(...vector)
  return length > 0 ? vector.map((value) => value / length) : vector
}

test.run()
