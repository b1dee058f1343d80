/** Weights as 8-bit integers: made once from a file of floating-point weights, and kept in a cache folder for the next load. */
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../errors.ts'
import { makeFolder } from '../formats/formats.ts'
import { requireFinite } from './finite.ts'
import { openTensorFile, type TensorFile } from './safetensors.ts'
import { digestKey, type NewTensor, unfinished, writeTensorFile } from './tensor-writer.ts'
import { scaleSuffix } from './weights.ts'

export interface QuantisationPlan {
  /** The purpose of the file made; part of its name. */
  readonly name: string
  readonly cacheFolder: string
  /** Which tensors it holds, by their names. */
  readonly keeps: RegExp
  /** Which of those become integers: matrices [out, in] that are only used through `Weights.linear`. */
  readonly quantises: RegExp
  /**
   * The numbers that share one scale: all inputs of an output of the matrix, or a block of them, which is closer to the
   * original and read faster for single rows, but slower for many rows at once. Default: `output`.
   */
  readonly scales?: 'output' | 'block'
  /**
   * How source and made file are recognised at the next load: by their content, or by size, time and place of both, since
   * hashing gigabytes takes seconds. A made file that was touched is compared by content all the same. Default: `content`.
   */
  readonly recognise?: 'content' | 'identity'
}

/** Change when the form of the made files does. */
const forms = { output: 'int8-per-output-1', block: 'int8-per-block-1' } as const

/**
 * The quantised file of `source`, from the cache or made now; it belongs to the content or identity of `source`, as planned.
 * Each output row, or block of one, is divided by its largest magnitude / 127 and rounded; other tensors are widened to 32 bits.
 * A cached file that is damaged is made again. Where the cache folder cannot be written the file is made for this load
 * alone, in the system's folder for temporary files, and is gone when it is closed. Any number of processes may do this at
 * the same time. Throws an AppError when the source holds numbers that are not finite or nothing can be written anywhere.
 */
export async function openQuantised(source: TensorFile, plan: QuantisationPlan): Promise<TensorFile> {
  const form = forms[plan.scales ?? 'output']
  const isLarge = plan.recognise === 'identity'
  const digest = isLarge ? hashOf(source.identity) : await source.digest('file')
  const name = `${plan.name}-${form}-${digest.slice(0, 24)}.safetensors`
  const found = await openWhole(join(plan.cacheFolder, name), digest, isLarge)
  if (found) return found
  await requireFinite(source)
  const write = async (folder: string) => {
    makeFolder(folder, 0o777)
    await writeTensorFile(join(folder, name), newTensors(source, plan), { source: digest, form })
  }
  try {
    await removeAbandoned(plan)
    await write(plan.cacheFolder)
    const made = await openTensorFile(join(plan.cacheFolder, name))
    if (isLarge) await noteChecked(made)
    return made
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code !== 'io') throw thrown
    return makeForThisLoad(name, write, thrown)
  }
}

/** The cached file, if it belongs to the source of that digest and is undamaged. */
async function openWhole(path: string, digest: string, isLarge: boolean): Promise<TensorFile | undefined> {
  const found = await openTensorFile(path).catch(() => undefined)
  if (!found) return undefined
  if (found.metadata.get('source') === digest && (await isUndamaged(found, isLarge))) return found
  await found.close()
  return undefined
}

async function isUndamaged(found: TensorFile, isLarge: boolean): Promise<boolean> {
  const checked = isLarge ? await readFile(found.path + checkedSuffix, 'utf8').catch(() => undefined) : undefined
  if (checked === hashOf(found.identity)) return true
  const isWhole = found.metadata.get(digestKey) === (await found.digest('numbers').catch(() => undefined))
  if (isWhole && isLarge) await noteChecked(found)
  return isWhole
}

/** The suffix of the file that names the identity under which a made file was found undamaged. */
const checkedSuffix = '.checked'

async function noteChecked(made: TensorFile): Promise<void> {
  // Without it, the next load compares the content.
  await writeFile(made.path + checkedSuffix, hashOf(made.identity)).catch(() => undefined)
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

async function makeForThisLoad(
  name: string,
  write: (folder: string) => Promise<void>,
  reason: unknown,
): Promise<TensorFile> {
  const folder = await mkdtemp(join(tmpdir(), 'aichat-weights-')).catch(() => undefined)
  const discard = () => rm(folder!, { recursive: true, force: true })
  try {
    if (!folder) throw reason
    await write(folder)
    const file = await openTensorFile(join(folder, name))
    return { ...file, close: () => file.close().finally(discard) }
  } catch (thrown) {
    if (folder) await discard()
    if (thrown instanceof AppError) throw thrown
    throw new AppError('io', `The quantised weights ${name} could not be written`, { cause: reason })
  }
}

/** Age of a temporary file after which its writer counts as killed. */
const abandonedMs = 3_600_000

async function removeAbandoned({ name, cacheFolder }: QuantisationPlan): Promise<void> {
  for (const entry of await readdir(cacheFolder).catch(() => [])) {
    if (!entry.startsWith(`${name}-`) || !entry.endsWith(unfinished)) continue
    const path = join(cacheFolder, entry)
    const written = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => Number.POSITIVE_INFINITY,
    )
    if (written < Date.now() - abandonedMs) await rm(path, { force: true }).catch(() => undefined)
  }
}

function newTensors(source: TensorFile, { keeps, quantises, scales }: QuantisationPlan): NewTensor[] {
  return [...source.tensors.values()]
    .filter(({ name }) => keeps.test(name))
    .flatMap(({ name, shape }): NewTensor[] => {
      const [outputs = 0, inputs = 0] = shape
      const block = scales === 'block' ? blockOf(inputs) : 0
      if (!quantises.test(name) || block === undefined)
        return [{ name, dtype: 'F32', shape, data: () => source.floats(name) }]
      const origin = `${name} of ${source.path}`
      let made: Promise<{ readonly integers: ArrayBufferView; readonly scales: Float32Array }> | undefined
      const quantised = () => {
        made ??= source
          .floats(name)
          .then((weights) => (block > 0 ? quantiseBlocks(weights, block) : quantise(weights, outputs, inputs, origin)))
        return made
      }
      const blocks = block > 0 ? inputs / block : 1
      return [
        {
          name,
          ...(block > 0
            ? { dtype: 'U8' as const, shape: [outputs, blocks, block] }
            : { dtype: 'I8' as const, shape: [inputs, outputs] }),
          data: async () => (await quantised()).integers,
        },
        {
          name: name + scaleSuffix,
          dtype: 'F32',
          shape: [outputs * blocks],
          data: async () => {
            const { scales: found } = await quantised()
            // The integers are on disk by now and need not stay in memory.
            made = undefined
            return found
          },
        },
      ]
    })
}

/** The sizes of blocks that the runtime multiplies, the fastest first. */
const blockSizes = [128, 64, 32, 16]

/** The largest block that divides a row; undefined where none does. */
function blockOf(inputs: number): number | undefined {
  return blockSizes.find((size) => inputs % size === 0)
}

/** Integers above 0, with 128 in the place of zero: blocks one behind the other, as they are in the matrix [out, in]. */
function quantiseBlocks(
  weights: Float32Array,
  block: number,
): { readonly integers: Uint8Array; readonly scales: Float32Array } {
  const integers = new Uint8Array(weights.length)
  const scales = new Float32Array(weights.length / block)
  for (let index = 0; index < scales.length; index++) {
    const [from, to] = [index * block, (index + 1) * block]
    let largest = 0
    for (let at = from; at < to; at++) {
      const weight = weights[at]!
      if (weight > largest) largest = weight
      else if (-weight > largest) largest = -weight
    }
    const scale = largest / 127 || 1
    const steps = 1 / scale
    scales[index] = scale
    // All are above zero by then, so that cutting off is rounding: gigabytes of weights pass here.
    for (let at = from; at < to; at++) integers[at] = (weights[at]! * steps + 128.5) | 0
  }
  return { integers, scales }
}

/** Quantises a matrix [out, in] and transposes it; `source` names it when a number in it is not finite. */
export function quantise(weights: Float32Array, outputs: number, inputs: number, source: string) {
  /** [in, out] */
  const integers = new Int8Array(inputs * outputs)
  /** [out]: the value of 1 in that column. */
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
