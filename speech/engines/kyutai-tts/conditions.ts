/** The model's inputs besides the text, computed once per utterance: a learnt constant, the guidance, the voice. */
import type { TensorFile } from '../../../src/inference/inference.ts'
import type { KyutaiConfiguration } from './configuration.ts'
import { conditioner } from './tensors.ts'

/** The slots for voices. Unused slots are attended to as well, filled with learnt padding. */
export const voiceSlots = 5

export type Conditions = Awaited<ReturnType<typeof readConditions>>

/** Reads the conditioners of a model. */
export async function readConditions(file: TensorFile, { model, guidance }: KyutaiConfiguration) {
  const { conditioners, dim: width } = model
  const floats = (name: string, part: string) => file.floats(conditioner(name, part))
  const project = (matrix: Float32Array, rows: Float32Array, inner: number) => multiply(matrix, rows, width, inner)
  const { dim: controlSize } = conditioners.control.lut
  const controlRow = (await floats('control', 'embed.weight')).subarray(0, controlSize)
  const control = project(await floats('control', 'output_proj.weight'), controlRow, controlSize)
  const { dim: size } = conditioners.cfg.lut
  const table = await floats('cfg', 'embed.weight')
  const projection = await floats('cfg', 'output_proj.weight')
  const without = await floats('cfg', 'learnt_padding')
  const { dim: voiceSize } = conditioners.speaker_wavs.tensor
  const voiceProjection = await floats('speaker_wavs', 'output_proj.weight')
  const unused = await floats('speaker_wavs', 'learnt_padding')

  return {
    /** The vector added to every step, for the trained guidance nearest to a value; the learnt one without a value. */
    sum(value?: number) {
      if (value === undefined) return added(control, without)
      const index = nearest(guidance, value)
      return added(control, project(projection, table.subarray(index * size, (index + 1) * size), size))
    },
    /** Rows [frames, width] of a voice, from its embedding [embedding size, frames]. */
    voice: (embedding: Float32Array) => project(voiceProjection, transposed(embedding, voiceSize), voiceSize),
    /** The rows instead of a voice that is not used. */
    silence: (frames: number) => Float32Array.from({ length: frames * width }, (_, i) => unused[i % width]!),
  }
}

/** Adds the positions of rows [rows, width] that begin at row `from`: cosines and sines of ever slower angles. */
export function addPositions(rows: Float32Array, width: number, from: number, scale: number): Float32Array {
  const half = width / 2
  return rows.map((value, i) => {
    const column = i % width
    const slowness = 10_000 ** ((column % half) / Math.max(1, half - 1))
    const angle = (from + Math.floor(i / width)) / slowness
    return value + scale * (column < half ? Math.cos(angle) : Math.sin(angle))
  })
}

/** The trained value that lies nearest. */
function nearest(values: readonly number[], wanted: number): number {
  let found = 0
  for (const [index, value] of values.entries())
    if (Math.abs(value - wanted) < Math.abs(values[found]! - wanted)) found = index
  return found
}

function added(a: Float32Array, b: Float32Array): Float32Array {
  return a.map((value, index) => value + b[index]!)
}

/** Rows [rows, inner] times a matrix [width, inner], as [rows, width]. */
function multiply(matrix: Float32Array, rows: Float32Array, width: number, inner: number): Float32Array {
  const made = new Float32Array((rows.length / inner) * width)
  for (let at = 0; at < made.length; at++) {
    const [row, column] = [Math.floor(at / width) * inner, (at % width) * inner]
    let sum = 0
    for (let i = 0; i < inner; i++) sum += rows[row + i]! * matrix[column + i]!
    made[at] = sum
  }
  return made
}

/** [size, frames] as [frames, size]. */
function transposed(data: Float32Array, size: number): Float32Array {
  const frames = data.length / size
  return Float32Array.from(data, (_, i) => data[(i % size) * frames + Math.floor(i / size)]!)
}
