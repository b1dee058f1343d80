import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { AppError } from '../../src/errors.ts'
import { createGraph } from '../../src/inference/graph.ts'
import { createNodes } from '../../src/inference/nodes.ts'
import { operatorsOf } from '../../src/inference/operators.ts'
import { quantise } from '../../src/inference/quantisation.ts'
import { openTensorFile } from '../../src/inference/safetensors.ts'
import { openSession } from '../../src/inference/session.ts'
import { type NewTensor, writeTensorFile } from '../../src/inference/tensor-writer.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('graphs and sessions')
const folder = temporaryFolder()

test('a graph of constants, inputs and named outputs runs', async () => {
  const nodes = createNodes('line')
  const graph = { ...nodes, ...operatorsOf(nodes) }
  const x = graph.input('x', 'float32', ['rows', 2])
  const doubled = graph.multiply(x, graph.scalar(2))
  graph.output('doubled', doubled, 'float32', ['rows', 2])
  graph.output('more', graph.add(doubled, graph.scalar(1)), 'float32', ['rows', 2])
  const session = await openSession(graph.encode(), { name: 'line' })
  assert.equal(session.inputs, ['x'])
  assert.equal(session.outputs, ['doubled', 'more'])
  const outputs = await session.run({ x: { type: 'float32', shape: [2, 2], data: Float32Array.of(1, 2, 3, 4) } })
  assert.equal([...outputs['doubled']!.data], [2, 4, 6, 8])
  assert.equal([...outputs['more']!.data], [3, 5, 7, 9])
  assert.equal(outputs['more']!.shape, [2, 2])
  await session.close()
})

/** W = [[1, 2, 3], [-4, 5, 6]] as every stored type; the odd byte in front makes the places uneven. */
const matrix = Float32Array.of(1, 2, 3, -4, 5, 6)
const stored: NewTensor[] = [
  { name: 'odd', dtype: 'U8', shape: [1], data: () => Uint8Array.of(9) },
  {
    name: 'bf16',
    dtype: 'BF16',
    shape: [2, 3],
    data: () => new Uint16Array(new Uint32Array(matrix.buffer).map((word) => word >>> 16)),
  },
  { name: 'f32', dtype: 'F32', shape: [2, 3], data: () => matrix },
  {
    name: 'f16',
    dtype: 'F16',
    shape: [2, 3],
    data: () => Uint16Array.of(0x3c00, 0x4000, 0x4200, 0xc400, 0x4500, 0x4600),
  },
  { name: 'bias', dtype: 'F32', shape: [2], data: () => Float32Array.of(10, 20) },
]

for (const dtype of ['bf16', 'f32', 'f16'])
  test(`weights of ${dtype} are used where they lie, exactly`, async () => {
    const path = join(folder, `${dtype}.safetensors`)
    await writeTensorFile(path, stored)
    const file = await openTensorFile(path)
    const graph = createGraph('weights', file)
    const x = graph.input('x', 'float32', ['rows', 3])
    graph.output('y', graph.linear(x, dtype, 'bias'), 'float32', ['rows', 2])
    assert.equal(graph.weightShape(dtype), [2, 3])
    const session = await openSession(graph.encode(), { name: dtype, weightsFolder: folder })
    const { y } = await session.run({ x: { type: 'float32', shape: [1, 3], data: Float32Array.of(1, 1, 1) } })
    assert.equal([...y!.data], [16, 27])
    await session.close()
    await file.close()
  })

test('a quantised product is close to the exact one', async () => {
  const [rows, inputs, outputs] = [3, 40, 20]
  const numbers = (count: number, seed: number) =>
    Float32Array.from({ length: count }, (_, i) => Math.sin(i * seed + 1))
  const [x, weights] = [numbers(rows * inputs, 0.7), numbers(outputs * inputs, 1.3)]
  const { integers, scales } = quantise(weights, outputs, inputs, 'w')
  await writeTensorFile(join(folder, 'int8.safetensors'), [
    { name: 'w', dtype: 'I8', shape: [inputs, outputs], data: () => integers },
    { name: 'w.scale', dtype: 'F32', shape: [outputs], data: () => scales },
  ])
  const file = await openTensorFile(join(folder, 'int8.safetensors'))
  const graph = createGraph('int8', file)
  assert.equal(graph.weightShape('w'), [outputs, inputs])
  const input = graph.input('x', 'float32', ['rows', inputs])
  graph.output('y', graph.linear(input, 'w'), 'float32', ['rows', outputs])
  const session = await openSession(graph.encode(), { name: 'int8', weightsFolder: folder })
  const { y } = await session.run({ x: { type: 'float32', shape: [rows, inputs], data: x } })
  for (let row = 0; row < rows; row++)
    for (let output = 0; output < outputs; output++) {
      let exact = 0
      for (let i = 0; i < inputs; i++) exact += x[row * inputs + i]! * weights[output * inputs + i]!
      assert.ok(Math.abs(Number(y!.data[row * outputs + output]) - exact) < 0.15)
    }
  await session.close()
  await file.close()
})

test('a row of zeros and a number that is not finite are quantised as nothing and refused', () => {
  const { integers, scales } = quantise(new Float32Array(4), 2, 2, 'w')
  assert.equal([...integers], [0, 0, 0, 0])
  assert.ok(scales.every(Number.isFinite))
  for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY])
    assert.throws(() => quantise(Float32Array.of(1, wrong, 1, 1), 2, 2, 'w of m'), /w of m holds numbers/)
})

test('a model that cannot be used is refused by its name', async () => {
  const unknown = createNodes('unknown')
  unknown.output('y', unknown.node('NoSuchOperator', [unknown.input('x', 'float32', [1])]), 'float32', [1])
  await writeFile(join(folder, 'no.onnx'), 'not a model')
  for (const model of [Uint8Array.of(1, 2, 3), unknown.encode(), join(folder, 'no.onnx')]) {
    const refusal = (await openSession(model, { name: 'the-model' }).catch((thrown: AppError) => thrown)) as AppError
    assert.is(refusal.code, 'invalid')
    assert.match(refusal.message, 'the-model')
  }
})

test('where the runtime is not installed, the error names the command to run', () => {
  const hook =
    'export function resolve(name, context, next) { if (name.endsWith("onnxruntime") || name === "onnxruntime-node") throw new Error("gone"); return next(name, context) }'
  const register = `import { register } from "node:module"; register("data:text/javascript,${encodeURIComponent(hook)}")`
  const session = new URL(
    `../../src/inference/session${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`,
    import.meta.url,
  )
  const script = `import { openSession } from ${JSON.stringify(session.href)}
    await openSession(new Uint8Array(), { name: 'm' }).catch(({ code, details }) => console.log(code, details[0]))`
  const loader = import.meta.url.endsWith('.ts') ? ['--import', 'tsx'] : []
  const hooks = ['--import', `data:text/javascript,${encodeURIComponent(register)}`]
  const { stdout, stderr } = spawnSync(process.execPath, [...loader, ...hooks, '--input-type=module', '-e', script], {
    encoding: 'utf8',
  })
  assert.match(stdout, /unavailable run `npm start` once in the folder of aichat/, stderr)
})

test.run()
