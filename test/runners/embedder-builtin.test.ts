import { readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { AppError } from '../../src/errors.ts'
import { createBuiltinEmbedder } from '../../src/runners/embedder-builtin.ts'
import { encodeVectors } from '../../src/word-vectors/vector-file.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the built-in embedder')

const folder = temporaryFolder()
const dimension = 4
const words = ['cat', 'feline', 'harbour', 'port']
const table = {
  dimension,
  words,
  weights: Float32Array.of(1, 1, 1, 1),
  vectors: Float32Array.of(1, 0.1, 0, 0, 1, 0.2, 0, 0, 0, 0, 1, 0.1, 0, 0, 1, 0.3),
}
const whole = encodeVectors(table)

test('reads its file at first use, whenever that comes to be there', async () => {
  const path = join(folder, 'later.bin')
  const embedder = createBuiltinEmbedder(path)
  await unavailable(embedder.embed(['cat'], 'query'))
  assert.is(embedder.space(), undefined)
  writeFileSync(path, whole)
  const { space, vectors } = await embedder.embed(['a cat', 'the feline', 'in the harbour'], 'document')
  assert.is(space.dimension, dimension)
  const [cat, feline, harbour] = vectors
  assert.ok(cosine(cat!, feline!) > 0.9)
  assert.ok(cosine(cat!, harbour!) < 0.1)
  rmSync(path)
  assert.equal((await embedder.embed(['a cat'], 'query')).vectors[0], cat)
})

test('lets others have a turn for every few thousand characters, and long texts get the vectors that they had', async () => {
  const path = join(folder, 'turns.bin')
  writeFileSync(path, whole)
  const embedder = createBuiltinEmbedder(path)
  const long = 'the cat is in a harbour '.repeat(800)
  let turns = 0
  const count = () => {
    turns++
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  const { vectors } = await embedder.embed(
    [long, ...Array.from({ length: 20 }, () => 'a cat '.repeat(100))],
    'document',
  )
  clearImmediate(counting)
  assert.ok(turns >= (long.length + 12_000) / 5_000, `${turns} turns`)
  const [short] = (await embedder.embed(['the cat is in a harbour'], 'query')).vectors
  assert.ok(cosine(vectors[0]!, short!) > 0.999)
})

test('calls a damaged file unavailable, and takes the one that replaces it', async () => {
  const path = join(folder, 'damaged.bin')
  const embedder = createBuiltinEmbedder(path)
  const damages: readonly Buffer[] = [
    Buffer.alloc(0),
    Buffer.from('not a header\n'),
    Buffer.from('{"format":"something else"}\n'),
    whole.subarray(0, 40),
    whole.subarray(0, whole.length - 1),
    Buffer.concat([whole, Buffer.alloc(3)]),
    Buffer.from(whole.toString('latin1').replace('cat\nfeline', 'cat feline'), 'latin1'),
    Buffer.from(whole.toString('latin1').replace('"words":4', '"words":3'), 'latin1'),
  ]
  for (const [at, bytes] of damages.entries()) {
    writeFileSync(path, bytes)
    await unavailable(embedder.embed(['cat'], 'query'), `damage ${at}`)
    await unavailable(embedder.embed(['cat'], 'query'), `damage ${at}, asked again`)
    assert.is(embedder.space(), undefined)
  }
  writeFileSync(path, whole)
  assert.is((await embedder.embed(['cat'], 'query')).vectors[0]!.length, dimension)
  assert.equal(readFileSync(path), whole)
  writeFileSync(path, encodeVectors({ ...table, words: ['cow', ...words.slice(1)] }))
  utimesSync(path, 1, 1)
  assert.equal(createBuiltinEmbedder(path).unknownWords('cat cow'), ['cat'])
})

function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, at) => sum + value * b[at]!, 0)
}

async function unavailable(work: Promise<unknown>, which = ''): Promise<void> {
  try {
    await work
  } catch (reason) {
    assert.instance(reason, AppError)
    assert.is((reason as AppError).code, 'unavailable')
    return assert.match((reason as AppError).message, /missing or damaged/)
  }
  assert.unreachable(which)
}

test.run()
