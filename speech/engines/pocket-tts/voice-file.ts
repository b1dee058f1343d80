/** Voices as their authors publish them: rows of the language model's cache, or the rows that fill it. */
import { AppError } from '../../../src/errors.ts'
import { openTensorFile, type TensorFile } from '../../../src/inference/inference.ts'
import type { CacheRows, CacheShape } from '../../blocks/key-value-cache.ts'

export type VoiceFile =
  | { readonly kind: 'cache'; readonly cache: CacheRows }
  /** Conditioning rows [rows, width], without the row that newer models put before them. */
  | { readonly kind: 'conditions'; readonly rows: number; readonly data: Float32Array }

/** Rows of five minutes and more: no voice is as long, and to attend to it would take the memory of many. */
const longestVoice = 4096

/** The key of layer N's tensors; the part behind the slash tells which. */
const layerKey = (layer: number) => `transformer.layers.${layer}.self_attn`

/**
 * Reads any of the three published forms: a cache with its length as `offset`, a cache with an end marker `current_end`,
 * or `audio_prompt`. Throws an AppError that names the file and everything that does not fit the model.
 */
export async function readVoiceFile(path: string, shape: CacheShape): Promise<VoiceFile> {
  const file = await openTensorFile(path)
  try {
    const width = shape.heads * shape.headSize
    return file.tensors.has('audio_prompt') ? await readConditions(file, width) : await readCache(file, shape)
  } finally {
    await file.close()
  }
}

async function readConditions(file: TensorFile, width: number): Promise<VoiceFile> {
  const shape = file.tensors.get('audio_prompt')!.shape
  const [one = 0, rows = 0] = shape
  if (shape.length !== 3 || one !== 1 || rows === 0 || shape[2] !== width)
    throw misfit(file, [`audio_prompt has shape [${shape}], expected [1, rows, ${width}]`])
  if (rows > longestVoice) throw misfit(file, [tooLong(rows)])
  const data = await floats(file, 'audio_prompt')
  if (!data.every(Number.isFinite)) throw misfit(file, ['audio_prompt holds numbers that are not finite'])
  return { kind: 'conditions', rows, data }
}

async function readCache(file: TensorFile, { layers, heads, headSize }: CacheShape): Promise<VoiceFile> {
  const problems: string[] = []
  const lengths = new Set<number>()
  for (let layer = 0; layer < layers; layer++) {
    const name = `${layerKey(layer)}/cache`
    const shape = file.tensors.get(name)?.shape
    const [, , capacity = 0] = shape ?? []
    const length = await lengthOf(file, layer)
    if (!shape) problems.push(`${name} is missing`)
    else if (`${shape}` !== `${[2, 1, capacity, heads, headSize]}`)
      problems.push(`${name} has shape [${shape}], expected [2, 1, rows, ${heads}, ${headSize}]`)
    else if (length === undefined) problems.push(`${layerKey(layer)} has neither offset nor current_end`)
    else if (length < 1 || length > capacity)
      problems.push(`${name} has ${capacity} rows, and its length is given as ${length}`)
    else if (length > longestVoice) problems.push(tooLong(length))
    else lengths.add(length)
  }
  if (file.tensors.has(`${layerKey(layers)}/cache`)) problems.push(`it has more than the model's ${layers} layers`)
  if (lengths.size > 1) problems.push('its layers differ in length')
  if (problems.length > 0) throw misfit(file, problems)

  const [rows = 0] = lengths
  const keys: Float32Array[] = []
  const values: Float32Array[] = []
  for (let layer = 0; layer < layers; layer++) {
    const data = await floats(file, `${layerKey(layer)}/cache`)
    // The first half of a cache is its keys; rows behind its length are not used.
    const used = rows * heads * headSize
    keys.push(data.slice(0, used))
    values.push(data.slice(data.length / 2, data.length / 2 + used))
    if (![keys, values].every((list) => list.at(-1)!.every(Number.isFinite)))
      throw misfit(file, [`${layerKey(layer)}/cache holds numbers that are not finite`])
  }
  return { kind: 'cache', cache: { rows, keys, values } }
}

async function lengthOf(file: TensorFile, layer: number): Promise<number | undefined> {
  const marker = file.tensors.get(`${layerKey(layer)}/current_end`)
  if (marker) return marker.shape[0]
  const offset = file.tensors.get(`${layerKey(layer)}/offset`)
  if (offset?.dtype !== 'I64' || offset.length !== 8) return undefined
  return Number(Buffer.from(await file.bytes(offset.name)).readBigInt64LE())
}

async function floats(file: TensorFile, name: string): Promise<Float32Array> {
  const { dtype } = file.tensors.get(name)!
  if (!['F32', 'BF16', 'F16', 'F64'].includes(dtype)) throw misfit(file, [`${name} holds ${dtype}`])
  return file.floats(name)
}

function tooLong(rows: number): string {
  return `it has ${rows} rows, and ${longestVoice} are the most`
}

function misfit(file: TensorFile, details: readonly string[]): AppError {
  return new AppError('invalid', `${file.path} is no voice for this pocket-tts model`, {
    details: details.slice(0, 20),
  })
}
