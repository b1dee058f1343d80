/** Attention and convolutions that run piece by piece, against the plain sums that define them. */

import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { attend, attentionInputs, newRows, pastRows } from '../../../speech/blocks/attention.ts'
import {
  convolution,
  createStreamStates,
  depthwiseTransposedConvolution,
  transposedConvolution,
} from '../../../speech/blocks/convolution.ts'
import { createRotaryTable } from '../../../speech/blocks/positions.ts'
import { createStream, type Stream } from '../../../speech/blocks/state-stream.ts'
import { createGraph } from '../../../src/inference/graph.ts'
import { openTensorFile } from '../../../src/inference/safetensors.ts'
import { openSession, type TensorData } from '../../../src/inference/session.ts'
import { writeTensorFile } from '../../../src/inference/tensor-writer.ts'
import { createWeights } from '../../../src/inference/weights.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('piece by piece')

const [heads, headSize] = [2, 4]
const width = heads * headSize
const period = 100

function numbers(count: number, seed: number): Float32Array {
  return Float32Array.from({ length: count }, (_, i) => Math.sin(i * 1.7 + seed) + Math.cos(i * 0.3 * seed))
}

/** Queries, keys and values are the rows themselves, three times as wide. */
async function attentionStream(context?: number): Promise<Stream> {
  const graph = createGraph('attention')
  const shape = { heads, headSize }
  const rows = graph.input('rows', 'float32', ['rows', width * 3])
  const past = pastRows(graph, 0, shape)
  const [query, key, value] = graph.nodes('Split', [rows], 3, { axis: { int: 1 }, num_outputs: { int: 3 } })
  const result = attend(graph, shape, attentionInputs(graph, shape, rows, past.keys), past, {
    query: query!,
    key: key!,
    value: value!,
  })
  newRows(graph, 0, shape, result)
  graph.output('mixed', result.mixed, 'float32', ['rows', width])
  const session = await openSession(graph.encode(), { name: 'attention' })
  const rotary = createRotaryTable(headSize, period)
  return createStream({ session, rotary, shape: { ...shape, layers: 1, ...(context && { context }) }, capacity: 1 })
}

/** The definition, row by row and head by head. */
function plainAttention(rows: Float32Array, count: number, context: number): Float32Array {
  const mixed = new Float32Array(count * width)
  const part = (row: number, which: number, head: number) =>
    rows.subarray(
      row * width * 3 + which * width + head * headSize,
      row * width * 3 + which * width + (head + 1) * headSize,
    )
  const rotated = (vector: Float32Array, position: number) =>
    vector.map((value, i) => {
      const angle = position * period ** (-(i - (i % 2)) / headSize)
      return i % 2 === 0
        ? value * Math.cos(angle) - vector[i + 1]! * Math.sin(angle)
        : vector[i - 1]! * Math.sin(angle) + value * Math.cos(angle)
    })
  for (let row = 0; row < count; row++)
    for (let head = 0; head < heads; head++) {
      const query = rotated(part(row, 0, head), row)
      const first = Math.max(0, row - context + 1)
      const scores = Array.from({ length: row - first + 1 }, (_, i) =>
        Math.exp(
          rotated(part(first + i, 1, head), first + i).reduce((sum, value, j) => sum + value * query[j]!, 0) / 2,
        ),
      )
      const total = scores.reduce((sum, score) => sum + score, 0)
      for (const [i, score] of scores.entries())
        for (let j = 0; j < headSize; j++)
          mixed[row * width + head * headSize + j]! += (score / total) * part(first + i, 2, head)[j]!
    }
  return mixed
}

function assertClose(actual: Float32Array, expected: Float32Array): void {
  assert.is(actual.length, expected.length)
  const largest = actual.reduce((most, value, i) => Math.max(most, Math.abs(value - expected[i]!)), 0)
  assert.ok(largest < 1e-5, `differs by ${largest}`)
}

const pieces = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 12 })

for (const context of [undefined, 1, 2, 5, 16])
  test(`attention in any pieces is attention by its definition, context ${context ?? 'unlimited'}`, async () => {
    const stream = await attentionStream(context)
    await fc.assert(
      fc.asyncProperty(pieces, fc.integer({ min: 1, max: 9 }), async (sizes, seed) => {
        const count = sizes.reduce((sum, size) => sum + size, 0)
        const rows = numbers(count * width * 3, seed)
        const mixed = new Float32Array(count * width)
        stream.reset()
        let at = 0
        for (const size of sizes) {
          const data = rows.subarray(at * width * 3, (at + size) * width * 3)
          const outputs = await stream.run({ rows: { type: 'float32', shape: [size, width * 3], data } }, size)
          mixed.set(outputs['mixed']!.data as Float32Array, at * width)
          at += size
        }
        assertClose(mixed, plainAttention(rows, count, context ?? count))
        assert.is(stream.cache.position, count)
        assert.is(stream.cache.past, Math.min(count, (context ?? count + 1) - 1))
      }),
      { numRuns: 15 },
    )
  })

test('a cache that is copied and given back continues as if nothing had happened', async () => {
  const stream = await attentionStream()
  const rows = numbers(8 * width * 3, 3)
  const feed = async (from: number, to: number) => {
    const data = rows.subarray(from * width * 3, to * width * 3)
    return (await stream.run({ rows: { type: 'float32', shape: [to - from, width * 3], data } }, to - from))['mixed']!
  }
  await feed(0, 5)
  const kept = stream.cache.copy()
  const straight = (await feed(5, 8)).data.slice()
  stream.reset()
  await feed(0, 2)
  stream.reset(kept)
  assert.is(stream.cache.position, 5)
  assertClose((await feed(5, 8)).data as Float32Array, straight as Float32Array)
})

const [input, output] = [3, 5]

interface Signal {
  readonly name: string
  readonly shape: readonly number[]
  /** Samples in a piece must be a multiple of it. */
  readonly step: number
  readonly build: (...parts: Parameters<typeof convolution>) => ReturnType<typeof convolution>
  readonly plain: (x: Float32Array, weights: Float32Array, bias: Float32Array, samples: number) => Float32Array
}

/** out[t, o] = bias[o] + Σ x[t × stride + k × dilation - reach, i] × w[o, i, k] */
const plainConvolution =
  (outputs: number, inputs: number, kernel: number, stride = 1, dilation = 1): Signal['plain'] =>
  (x, weights, bias, samples) => {
    const reach = (kernel - 1) * dilation + 1 - stride
    return Float32Array.from({ length: (samples / stride) * outputs }, (_, index) => {
      const [time, o] = [Math.floor(index / outputs), index % outputs]
      let sum = bias[o]!
      for (let i = 0; i < inputs; i++)
        for (let k = 0; k < kernel; k++)
          sum += (x[(time * stride + k * dilation - reach) * inputs + i] ?? 0) * weights[(o * inputs + i) * kernel + k]!
      return sum
    })
  }

/** out[t × stride + k, o] += x[t, i] × w[i, o, k], cut to the samples' length. */
const plainTransposed =
  (inputs: number, outputs: number, stride: number, depthwise = false): Signal['plain'] =>
  (x, weights, bias, samples) => {
    const out = new Float32Array(samples * stride * outputs)
    for (let index = 0; index < out.length; index++) out[index] = depthwise ? 0 : bias[index % outputs]!
    for (let time = 0; time < samples; time++)
      for (let i = 0; i < inputs; i++)
        for (let o = depthwise ? i : 0; o < (depthwise ? i + 1 : outputs); o++)
          for (let k = 0; k < stride * 2; k++) {
            const at = (time * stride + k) * outputs + o
            const weight = weights[(depthwise ? i : i * outputs + o) * stride * 2 + k]!
            if (at < out.length) out[at]! += x[time * inputs + i]! * weight
          }
    return out
  }

const signals: readonly Signal[] = [
  ...[1, 3, 7].map((kernel) => ({
    name: `a convolution of kernel ${kernel}`,
    shape: [output, input, kernel],
    step: 1,
    build: convolution,
    plain: plainConvolution(output, input, kernel),
  })),
  {
    name: 'a convolution to fewer channels',
    shape: [2, input, 3],
    step: 1,
    build: convolution,
    plain: plainConvolution(2, input, 3),
  },
  ...[output, 2].map((outputs) => ({
    name: `a dilated convolution to ${outputs} channels`,
    shape: [outputs, input, 3],
    step: 1,
    build: (...[weights, states, name, x]: Parameters<typeof convolution>) =>
      convolution(weights, states, name, x, { dilation: 4 }),
    plain: plainConvolution(outputs, input, 3, 1, 4),
  })),
  {
    name: 'a convolution with a stride',
    shape: [output, input, 8],
    step: 4,
    build: (...[weights, states, name, x]) => convolution(weights, states, name, x, { stride: 4 }),
    plain: plainConvolution(output, input, 8, 4),
  },
  {
    name: 'a transposed convolution',
    shape: [input, output, 6],
    step: 1,
    build: transposedConvolution,
    plain: plainTransposed(input, output, 3),
  },
  {
    name: 'a transposed convolution with one filter per channel',
    shape: [input, 1, 8],
    step: 1,
    build: depthwiseTransposedConvolution,
    plain: plainTransposed(input, input, 4, true),
  },
]

for (const { name, shape, step, build, plain } of signals)
  test(`${name}, in any pieces, is the sum that defines it`, async () => {
    const folder = temporaryFolder()
    const weights = numbers(
      shape.reduce((product, size) => product * size, 1),
      2,
    )
    const bias = numbers(8, 5)
    const biased = build !== depthwiseTransposedConvolution
    const outputs = build === transposedConvolution ? shape[1]! : shape[0]!
    await writeTensorFile(join(folder, 'w.safetensors'), [
      { name: 'c.weight', dtype: 'F32', shape, data: () => weights },
      ...(biased
        ? [{ name: 'c.bias', dtype: 'F32' as const, shape: [outputs], data: () => bias.subarray(0, outputs) }]
        : []),
    ])
    const file = await openTensorFile(join(folder, 'w.safetensors'))
    const graph = createGraph('signal')
    const states = createStreamStates(graph)
    const x = graph.input('x', 'float32', ['samples', input])
    graph.output('y', build(createWeights(graph, file), states, 'c', x), 'float32', ['made', 'channels'])
    const session = await openSession(graph.encode(), { name, weightsFolder: folder })
    await fc.assert(
      fc.asyncProperty(pieces, fc.integer({ min: 1, max: 9 }), async (sizes, seed) => {
        const samples = sizes.reduce((sum, size) => sum + size * step, 0)
        const signal = numbers(samples * input, seed)
        let kept: Record<string, TensorData> = Object.fromEntries(
          states.kept.map((state) => [`previous_${state.name}`, zeros(state.shape)]),
        )
        const made: number[] = []
        let at = 0
        for (const size of sizes) {
          const data = signal.subarray(at * input, (at + size * step) * input)
          const run = await session.run({ ...kept, x: { type: 'float32', shape: [size * step, input], data } })
          kept = Object.fromEntries(states.kept.map((state) => [`previous_${state.name}`, run[`next_${state.name}`]!]))
          made.push(...(run['y']!.data as Float32Array))
          at += size * step
        }
        assertClose(Float32Array.from(made), plain(signal, weights, bias, samples))
      }),
      { numRuns: 10 },
    )
    await session.close()
    await file.close()
  })

function zeros(shape: readonly number[]) {
  return { type: 'float32' as const, shape, data: new Float32Array(shape.reduce((product, size) => product * size, 1)) }
}

test.run()
