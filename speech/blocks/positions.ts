/** Positions for attention: rotary angles and the causal mask. */
import { floats, type TensorData } from '../../src/inference/inference.ts'

export type RotaryTable = ReturnType<typeof createRotaryTable>

/** How a model's authors compute the frequencies: as exp of a multiple of log(period), or as a power of the period. */
export type FrequencyForm = 'exponential' | 'power'

/** Angles position × period^(-2i / headSize), rounded to 32 bits where the models' authors round them. */
export function createRotaryTable(headSize: number, period: number, form: FrequencyForm = 'exponential') {
  const half = headSize / 2
  const step = Math.fround((-Math.log(period) * 2) / headSize)
  const frequency = {
    exponential: (i: number) => Math.exp(Math.fround(i * step)),
    power: (i: number) => 1 / Math.fround(period ** Math.fround((2 * i) / headSize)),
  }[form]
  const frequencies = Float32Array.from({ length: half }, (_, i) => frequency(i))
  let positions = 0
  let cosines = new Float32Array()
  let sines = new Float32Array()

  return {
    /** The inputs `cosines` and `sines` for positions `from` … `from + rows - 1`. */
    feeds(from: number, rows: number) {
      if (from + rows > positions) grow(Math.max(from + rows, positions * 2, 512))
      const part = (table: Float32Array) => floats([rows, half], table.subarray(from * half, (from + rows) * half))
      return { cosines: part(cosines), sines: part(sines) }
    },
  }

  function grow(count: number): void {
    positions = count
    cosines = new Float32Array(count * half)
    sines = new Float32Array(count * half)
    for (let index = 0; index < count * half; index++) {
      const angle = Math.fround(Math.floor(index / half) * frequencies[index % half]!)
      cosines[index] = Math.cos(angle)
      sines[index] = Math.sin(angle)
    }
  }
}

/**
 * The input `mask` [rows, past + rows] for new rows behind `past` visible ones: 0 where a row may look, -Infinity elsewhere.
 * A row sees itself and the `context` - 1 rows before it; of `together` rows that come at the same time each looks as far back
 * as the last of them. An empty past is one row that is masked for all.
 */
export function causalMask(rows: number, past: number, context = Number.POSITIVE_INFINITY, together = 1): TensorData {
  const before = Math.max(1, past)
  const all = before + rows
  const data = new Float32Array(rows * all)
  for (let row = 0; row < rows; row++) {
    const last = before + row
    const latest = last - (row % together) + together - 1
    const first = Math.max(before - past, latest - context + 1)
    data.fill(Number.NEGATIVE_INFINITY, row * all, row * all + first)
    data.fill(Number.NEGATIVE_INFINITY, row * all + last + 1, (row + 1) * all)
  }
  return floats([rows, all], data)
}
