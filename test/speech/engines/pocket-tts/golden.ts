/** The reference data of the pocket-tts model folders: numbers that the authors' implementation computed, stage by stage. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import type { CacheRows } from '../../../../speech/blocks/key-value-cache.ts'
import { openPocketModel, type PocketModel } from '../../../../speech/engines/pocket-tts/model.ts'
import type { GeluForm } from '../../../../src/inference/operators.ts'
import type { TensorData } from '../../../../src/inference/session.ts'
import { testData } from '../../../helpers/data.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'

/** The tolerance of a 32-bit graph: rounding in the reference itself is a quarter of it. */
export const tolerance = { values: 2e-5, samples: 2e-6 }

export type FloatArray = { readonly shape: readonly number[]; readonly data: Float32Array }

/** One folder of expected numbers beside its model. */
export interface GoldenFolder {
  readonly name: string
  /** The model's folder. */
  readonly model: string
  readonly gelu: GeluForm | undefined
  has(array: string): boolean
  /** An array of this folder; inputs that only the model's first folder holds are taken from there. */
  read(array: string): FloatArray
  path(file: string): string
}

/** A model of a geometry that no official one has; see its README. */
const otherGeometry = fileURLToPath(new URL('./test/fixtures/pocket-tts', import.meta.resolve('#package')))

/** Every `golden…` folder beside every `model.safetensors` of the test data, of any geometry, and our own. */
export function goldenFolders(): GoldenFolder[] {
  return [otherGeometry, ...modelFolders()].flatMap(goldenOf)
}

/** The folders that hold a model, and those that hold such folders. */
export function modelFolders(root = testData('speech-golden', 'pocket-tts')): string[] {
  if (root === undefined) return []
  const inner = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const here = existsSync(join(root, 'model.safetensors')) ? [root] : []
  return [...here, ...inner.flatMap((entry) => modelFolders(join(root, entry.name)))]
}

function goldenOf(model: string): GoldenFolder[] {
  const names = readdirSync(model, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name.startsWith('golden'))
    .map((entry) => entry.name)
  return names.map((name) => {
    const path = (file: string) => join(model, name, file)
    const has = (array: string) => existsSync(path(`${array}.npy`))
    return {
      name: `${basename(model)}/${name}`,
      model,
      gelu: name.includes('tanh') ? 'tanh' : undefined,
      has,
      read: (array) => readFloats(has(array) ? path(`${array}.npy`) : join(model, 'golden', `${array}.npy`)),
      path,
    }
  })
}

/** The model in 32 bits, with the activation of the golden folder and, where asked for, so many flow steps. */
export async function openGolden(
  { model, gelu }: Pick<GoldenFolder, 'model' | 'gelu'>,
  { flowSteps }: { readonly flowSteps?: number } = {},
): Promise<PocketModel> {
  const options = { folder: model, cacheFolder: temporaryFolder(), precision: 'float32' } as const
  return openPocketModel({ ...options, overrides: { ...(gelu && { gelu }), ...(flowSteps && { flowSteps }) } })
}

/** A `.npy` file of version 1 with float32 values in C order. */
export function readFloats(path: string): FloatArray {
  const { shape, body } = readNumpy(path, '<f4')
  return { shape, data: new Float32Array(body) }
}

/** The same with int64 values. */
export function readIntegers(path: string): number[] {
  return [...new BigInt64Array(readNumpy(path, '<i8').body)].map(Number)
}

function readNumpy(path: string, type: string): { shape: number[]; body: ArrayBuffer } {
  const bytes = readFileSync(path)
  const end = 10 + bytes.readUInt16LE(8)
  const header = bytes.toString('latin1', 10, end)
  assert.ok(header.includes(`'descr': '${type}'`) && header.includes("'fortran_order': False"), `${path}: ${header}`)
  const shape = [...(/'shape': \(([^)]*)\)/.exec(header)?.[1] ?? '').matchAll(/\d+/g)].map(([digits]) => Number(digits))
  return { shape, body: bytes.buffer.slice(bytes.byteOffset + end, bytes.byteOffset + bytes.length) as ArrayBuffer }
}

/** Fails unless both have one length and no pair differs by more than `limit`. */
export function assertClose(actual: Float32Array, expected: Float32Array, limit: number, what: string): void {
  assert.is(actual.length, expected.length, `${what}: so many numbers`)
  let largest = 0
  for (let i = 0; i < actual.length; i++) {
    const difference = Math.abs(actual[i]! - expected[i]!)
    // NaN is no smaller than anything.
    if (!(difference <= largest)) largest = difference
  }
  assert.ok(largest <= limit, `${what} differs by ${largest}, allowed is ${limit}`)
}

/** Fails unless two runs made the same sound: where numbers lie in memory decides how their sums are rounded. */
export function assertSameSound(actual: Float32Array, expected: Float32Array, what = 'the sound'): void {
  assertClose(actual, expected, 1e-3, what)
}

/** Fails unless a listener could tell them apart. */
export function assertOtherSound(actual: Float32Array, other: Float32Array): void {
  const apart = actual.length !== other.length || actual.some((sample, i) => Math.abs(sample - other[i]!) > 1e-2)
  assert.ok(apart, 'both sound the same')
}

/** Numbers as a tensor. */
export function floats(shape: readonly number[], data: Float32Array = new Float32Array()): TensorData {
  return { type: 'float32', shape, data }
}

/** A tensor's numbers. */
export function numbers(tensor: TensorData | undefined): Float32Array {
  return tensor?.data as Float32Array
}

/** Rows [rows, columns] as columns [columns, rows], which is how convolutions are recorded. */
export function transposed({ shape, data }: TensorData): Float32Array {
  const [rows = 0, columns = 0] = shape
  return Float32Array.from(
    { length: data.length },
    (_, i) => (data as Float32Array)[(i % rows) * columns + Math.floor(i / rows)]!,
  )
}

/** Keys and values of all layers one behind the other, as a cache is recorded. */
export function flatCache({ keys, values }: CacheRows): Float32Array {
  const parts = keys.flatMap((layer, index) => [layer, values[index]!])
  return joined(parts)
}

/** The parts one behind the other. */
export function joined(parts: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
