import { type DecoderShape, type DecoderWeights, epsilon, rotaryTables } from '../helpers/providers/tiny-decoder.ts'

/** Logits of the last of `ids`, computed in plain loops over the whole sequence, without a cache: the expected result. */
export function referenceLogits(ids: readonly number[], shape: DecoderShape, weights: DecoderWeights): Float32Array {
  const { hidden, intermediate, layers, heads, keyValueHeads, vocabulary, positions } = shape
  const size = hidden / heads
  const { cosines, sines } = rotaryTables(positions, size)
  let rows = ids.map((id) => weights.embedding.subarray(id * hidden, (id + 1) * hidden))
  for (let layer = 0; layer < layers; layer++) {
    const matrix = (name: string) => weights.matrix(`${layer}.${name}`)
    const normed = rows.map((row) => normalised(row, weights.vector(`${layer}.input_norm`)))
    const turned = (row: Float32Array, count: number, place: number) => rotated(row, count, size, place, cosines, sines)
    const queries = normed.map((row, place) => turned(product(row, matrix('q'), hidden), heads, place))
    const keys = normed.map((row, place) =>
      turned(product(row, matrix('k'), keyValueHeads * size), keyValueHeads, place),
    )
    const values = normed.map((row) => product(row, matrix('v'), keyValueHeads * size))
    rows = rows.map((row, place) => {
      const mixed = new Float32Array(hidden)
      for (let head = 0; head < heads; head++) {
        const shared = Math.floor(head / (heads / keyValueHeads)) * size
        const scores = keys.slice(0, place + 1).map((key) => {
          let score = 0
          for (let i = 0; i < size; i++) score += queries[place]![head * size + i]! * key[shared + i]!
          return score / Math.sqrt(size)
        })
        const most = Math.max(...scores)
        const powers = scores.map((score) => Math.exp(score - most))
        const sum = powers.reduce((total, power) => total + power, 0)
        for (const [at, power] of powers.entries())
          for (let i = 0; i < size; i++) mixed[head * size + i]! += (power / sum) * values[at]![shared + i]!
      }
      return sum(row, product(mixed, matrix('o'), hidden))
    })
    rows = rows.map((row) => {
      const inner = normalised(row, weights.vector(`${layer}.post_norm`))
      const gate = product(inner, matrix('gate'), intermediate)
      const up = product(inner, matrix('up'), intermediate)
      return sum(
        row,
        product(
          gate.map((g, i) => (g / (1 + Math.exp(-g))) * up[i]!),
          matrix('down'),
          hidden,
        ),
      )
    })
  }
  return product(normalised(rows.at(-1)!, weights.vector('norm')), weights.matrix('lm_head'), vocabulary)
}

function rotated(
  row: Float32Array,
  count: number,
  size: number,
  place: number,
  cosines: Float32Array,
  sines: Float32Array,
): Float32Array {
  const half = size / 2
  const out = new Float32Array(row.length)
  for (let head = 0; head < count; head++)
    for (let i = 0; i < half; i++) {
      const [a, b] = [row[head * size + i]!, row[head * size + half + i]!]
      const [cosine, sine] = [cosines[place * half + i]!, sines[place * half + i]!]
      out[head * size + i] = a * cosine - b * sine
      out[head * size + half + i] = b * cosine + a * sine
    }
  return out
}

function normalised(row: Float32Array, weight: Float32Array): Float32Array {
  const mean = row.reduce((total, value) => total + value * value, 0) / row.length
  return row.map((value, i) => (value / Math.sqrt(mean + epsilon)) * weight[i]!)
}

function product(row: Float32Array, matrix: Float32Array, outputs: number): Float32Array {
  const out = new Float32Array(outputs)
  for (let i = 0; i < row.length; i++) for (let o = 0; o < outputs; o++) out[o]! += row[i]! * matrix[i * outputs + o]!
  return out
}

function sum(a: Float32Array, b: Float32Array): Float32Array {
  return a.map((value, i) => value + b[i]!)
}
