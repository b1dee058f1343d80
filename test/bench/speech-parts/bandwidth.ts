import { join } from 'node:path'
import { createGraph } from '../../../src/inference/graph.ts'
import { openTensorFile } from '../../../src/inference/safetensors.ts'
import { openSession } from '../../../src/inference/session.ts'
import { writeTensorFile } from '../../../src/inference/tensor-writer.ts'

/** Bytes of weights that a second of processor time reads, for one row against matrices that no cache holds, in the form of the model's. */
export async function measureBandwidth(folder: string, threads: number): Promise<number> {
  const [inputs, outputs, count] = [1024, 3072, 80]
  const path = join(folder, 'matrices.safetensors')
  const size = inputs * outputs
  // No two are the same: equal ones would be kept once.
  const pool = Uint8Array.from({ length: size + count * 997 }, (_, i) => (Math.imul(i, 2654435761) >>> 8) & 255)
  const scales = new Float32Array(outputs * (inputs / 128)).fill(0.001)
  const names = Array.from({ length: count }, (_, i) => `m${i}.weight`)
  await writeTensorFile(
    path,
    names.flatMap((name, i) => [
      {
        name,
        dtype: 'U8' as const,
        shape: [outputs, inputs / 128, 128],
        data: () => pool.subarray(i * 997, i * 997 + size),
      },
      { name: `${name}.scale`, dtype: 'F32' as const, shape: [scales.length], data: () => scales },
    ]),
  )
  const file = await openTensorFile(path)
  const graph = createGraph('bandwidth', file)
  const x = graph.input('x', 'float32', [1, inputs])
  const sum = names.map((name) => graph.linear(x, name)).reduce((total, value) => graph.add(total, value))
  graph.output('y', sum, 'float32', [1, outputs])
  const session = await openSession(graph.encode(), { name: 'bandwidth', weightsFolder: folder, threads })
  const feeds = { x: { type: 'float32' as const, shape: [1, inputs], data: new Float32Array(inputs).fill(0.5) } }
  await session.run(feeds)
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 12; round++) {
    const begun = process.cpuUsage()
    await session.run(feeds)
    const { user, system } = process.cpuUsage(begun)
    least = Math.min(least, (user + system) / 1e6)
  }
  await session.close()
  await file.close()
  return ((size + scales.byteLength) * count) / least
}
