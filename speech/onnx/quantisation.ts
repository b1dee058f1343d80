/** Weights as 8-bit integers: made once from a file of floating-point weights, and kept in a cache folder for the next load. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { AppError } from '../../src/errors.ts'
import { type NewTensor, openTensorFile, type TensorFile, writeTensorFile } from './safetensors.ts'
import { scaleSuffix } from './weights.ts'

export interface QuantisationPlan {
  /** What the made file is for; part of its name. */
  readonly name: string
  readonly cacheFolder: string
  /** Which tensors it holds. */
  readonly keeps: (name: string) => boolean
  /** Which of those become integers: matrices [out, in] that are only used through `Weights.linear`. */
  readonly quantises: (name: string) => boolean
}

/** Changes when the form of the made files does. */
const form = 'int8-per-output-1'

/**
 * The quantised file of `source`, from the cache or made now; it belongs to the content of `source`, not to its path or age.
 * Each output row is divided by its largest magnitude / 127 and rounded; what is not quantised is widened to 32 bits.
 * Throws an AppError when the source holds numbers that are not finite or the cache cannot be written.
 */
export async function openQuantised(source: TensorFile, plan: QuantisationPlan): Promise<TensorFile> {
  const digest = await digestOf(source.path)
  const path = join(plan.cacheFolder, `${plan.name}-${form}-${digest.slice(0, 24)}.safetensors`)
  const found = await openTensorFile(path).catch(() => undefined)
  if (found?.metadata.get('source') === digest) return found
  await found?.close()
  try {
    await mkdir(plan.cacheFolder, { recursive: true })
  } catch (thrown) {
    throw new AppError('io', `${plan.cacheFolder} could not be made`, { cause: thrown })
  }
  await writeTensorFile(path, newTensors(source, plan), { source: digest, form })
  return openTensorFile(path)
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash)
  return hash.digest('hex')
}

function newTensors(source: TensorFile, { keeps, quantises }: QuantisationPlan): NewTensor[] {
  return [...source.tensors.values()]
    .filter(({ name }) => keeps(name))
    .flatMap(({ name, shape }): NewTensor[] => {
      if (!quantises(name)) return [{ name, dtype: 'F32', shape, data: () => source.floats(name) }]
      const [outputs = 0, inputs = 0] = shape
      let made: Promise<Quantised> | undefined
      const quantised = () => {
        made ??= source.floats(name).then((weights) => quantise(weights, outputs, inputs, `${name} of ${source.path}`))
        return made
      }
      return [
        { name, dtype: 'I8', shape: [inputs, outputs], data: async () => (await quantised()).integers },
        {
          name: name + scaleSuffix,
          dtype: 'F32',
          shape: [outputs],
          data: async () => {
            const { scales } = await quantised()
            // The integers are on disk by now and need not stay in memory.
            made = undefined
            return scales
          },
        },
      ]
    })
}

export interface Quantised {
  /** [in, out] */
  readonly integers: Int8Array
  /** [out]: what an integer of that column stands for. */
  readonly scales: Float32Array
}

/** Quantises a matrix [out, in] and transposes it; `source` names it when a number in it is not finite. */
export function quantise(weights: Float32Array, outputs: number, inputs: number, source: string): Quantised {
  const integers = new Int8Array(inputs * outputs)
  const scales = new Float32Array(outputs)
  for (let output = 0; output < outputs; output++) {
    let largest = 0
    for (let at = output * inputs; at < (output + 1) * inputs; at++) {
      const magnitude = Math.abs(weights[at]!)
      if (!Number.isFinite(magnitude)) throw new AppError('invalid', `${source} holds numbers that are not finite`)
      if (magnitude > largest) largest = magnitude
    }
    scales[output] = largest / 127 || 1
  }
  for (let first = 0; first < outputs; first += blockRows) {
    const end = Math.min(outputs, first + blockRows)
    for (let input = 0; input < inputs; input++)
      for (let output = first; output < end; output++)
        integers[input * outputs + output] = Math.round(weights[output * inputs + input]! / scales[output]!)
  }
  return { integers, scales }
}

/** A matrix is transposed by so many rows at a time: their integers fill one line of the processor's cache. */
const blockRows = 64
