import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { AppError } from '../../src/errors.ts'
import { openTensorFile, toFloats } from '../../src/inference/safetensors.ts'
import { writeTensorFile } from '../../src/inference/tensor-writer.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { fc } from '../helpers/properties.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('safetensors')
const folder = temporaryFolder()

/** A file of this header and so many bytes behind it. */
async function fileOf(header: unknown, bytes = 0): Promise<string> {
  const json = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(json.length))
  const path = join(folder, `${Math.random().toString(36).slice(2)}.safetensors`)
  await writeFile(path, Buffer.concat([length, json, Buffer.alloc(bytes)]))
  return path
}

async function refusalOf(path: string): Promise<string> {
  const opened = await openTensorFile(path).catch((thrown: AppError) => thrown)
  assert.is((opened as AppError).name, 'AppError', `${path} must be refused`)
  const { message, details } = opened as AppError
  assert.match(message, path)
  return [message, ...details].join('\n')
}

test('written tensors are read again, with their texts', async () => {
  const path = join(folder, 'whole.safetensors')
  await writeTensorFile(
    path,
    [
      { name: 'a', dtype: 'F32', shape: [2, 3], data: () => Float32Array.of(1, 2, 3, 4, 5, 6) },
      { name: 'empty', dtype: 'BF16', shape: [0, 4], data: () => new Uint16Array() },
      { name: 'b', dtype: 'I64', shape: [], data: async () => BigInt64Array.of(-7n) },
    ],
    { source: 'here' },
  )
  const file = await openTensorFile(path)
  assert.equal([...file.tensors.keys()].sort(), ['a', 'b', 'empty'])
  assert.equal(await file.floats('a'), Float32Array.of(1, 2, 3, 4, 5, 6))
  assert.is(Buffer.from(await file.bytes('b')).readBigInt64LE(), -7n)
  assert.is((await file.floats('empty')).length, 0)
  assert.is(file.metadata.get('source'), 'here')
  assert.equal(file.external('a').shape, [2, 3])
  assert.is(file.external('a').offset % 8, 0)
  await file.close()
})

test('a tensor that is not there is named', async () => {
  const file = await openTensorFile(await fileOf({}))
  const thrown = await file.floats('gone').catch((reason: Error) => reason)
  assert.match(String(thrown), 'has no tensor gone')
  await file.close()
})

const entry = (more: Record<string, unknown>) => ({ a: { dtype: 'F32', shape: [2], data_offsets: [0, 8], ...more } })

for (const { name, header, bytes = 8, problem } of [
  { name: 'no object', header: '[1]', problem: 'not a JSON object' },
  { name: 'no JSON', header: '{"a":', problem: 'not a JSON object' },
  { name: 'an unknown type', header: entry({ dtype: 'Q3' }), problem: '"Q3" are not known' },
  { name: 'a type of the prototype', header: entry({ dtype: 'toString' }), problem: 'are not known' },
  { name: 'no shape', header: entry({ shape: 'two' }), problem: 'not a list of sizes' },
  { name: 'a negative size', header: entry({ shape: [-2] }), problem: 'not a list of sizes' },
  { name: 'a size that is no whole number', header: entry({ shape: [0.5, 4] }), problem: 'not a list of sizes' },
  {
    name: 'sizes whose product no file holds',
    header: entry({ shape: [2 ** 40, 2 ** 40] }),
    problem: 'its offsets hold 8',
  },
  {
    name: 'offsets that do not fit the shape',
    header: entry({ shape: [3] }),
    problem: 'takes 12 bytes and its offsets hold 8',
  },
  { name: 'offsets that run backwards', header: entry({ data_offsets: [8, 0] }), problem: 'its offsets hold -8' },
  { name: 'one offset', header: entry({ data_offsets: [0] }), problem: 'no pair of offsets' },
  { name: 'no entry', header: { a: null }, problem: 'are not known' },
  { name: 'data beyond the end', header: entry({}), bytes: 7, problem: 'only' },
  { name: 'data of no tensor', header: entry({}), bytes: 9, problem: '1 bytes follow' },
  {
    name: 'overlapping tensors',
    header: { ...entry({}), b: { dtype: 'F32', shape: [1], data_offsets: [4, 8] } },
    problem: 'b: it overlaps',
  },
  {
    name: 'a gap',
    header: { ...entry({}), b: { dtype: 'U8', shape: [1], data_offsets: [9, 10] } },
    bytes: 10,
    problem: 'b: a gap lies before it',
  },
])
  test(`a header with ${name} is refused, saying so`, async () => {
    assert.match(await refusalOf(await fileOf(header, bytes)), problem)
  })

test('a file that is too short for its header, or has none, is refused', async () => {
  const path = join(folder, 'short.safetensors')
  for (const bytes of [[], [1], [9, 0, 0, 0, 0, 0, 0, 0], Array(8).fill(255), [...Array(16).fill(0)]]) {
    await writeFile(path, Uint8Array.from(bytes))
    await refusalOf(path)
  }
  await refusalOf(join(folder, 'missing.safetensors'))
})

test('no bytes ever do worse than being refused', () =>
  fc.assert(
    fc.asyncProperty(fc.json(), fc.nat(40), async (json, bytes) => {
      const opened = await openTensorFile(await fileOf(json, bytes)).catch((thrown: AppError) => thrown)
      if (opened instanceof Error) assert.is(opened.name, 'AppError')
      else await opened.close()
    }),
    { numRuns: 60 },
  ))

test('halves are widened exactly', () => {
  const bf16 = toFloats(new Uint8Array(Uint16Array.of(0x3f80, 0xc000, 0x7f80, 0x0001, 0x8000).buffer), 'BF16')
  assert.equal([...bf16], [1, -2, Number.POSITIVE_INFINITY, 2 ** -133, -0])
  const f16 = toFloats(new Uint8Array(Uint16Array.of(0x3c00, 0xc000, 0x7c00, 0x0001, 0x3555).buffer), 'F16')
  assert.equal([...f16], [1, -2, Number.POSITIVE_INFINITY, 2 ** -24, Math.fround(0.333251953125)])
  assert.equal([...toFloats(new Uint8Array(Float64Array.of(0.1).buffer), 'F64')], [Math.fround(0.1)])
  assert.throws(() => toFloats(new Uint8Array(8), 'I64'))
})

test('numbers are read from bytes that lie anywhere', () => {
  const bytes = new Uint8Array(9)
  bytes.set(new Uint8Array(Float32Array.of(1.5, -2).buffer), 1)
  assert.equal([...toFloats(bytes.subarray(1), 'F32')], [1.5, -2])
})

test.run()
