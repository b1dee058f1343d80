/**
 * Server A with Qwen3-TTS on random weights of the published sizes, which this bench makes: what they speak is noise, but
 * nothing that is computed depends on what is spoken, except the end.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { quantisationPlan } from '../../speech/engines/qwen3-tts/model.ts'
import { openSpeechService } from '../../speech/service.ts'
import { createGraph } from '../../src/inference/graph.ts'
import { add } from '../../src/inference/operators.ts'
import { openQuantised } from '../../src/inference/quantisation.ts'
import { openTensorFile } from '../../src/inference/safetensors.ts'
import { openSession } from '../../src/inference/session.ts'
import { writeTensorFile } from '../../src/inference/tensor-writer.ts'
import { createWeights } from '../../src/inference/weights.ts'
import { createSpeechServer } from '../../src/server/speech.ts'
import { openInstallation } from '../installation.ts'
import { largeSize, makeQwenModel, type QwenSize, smallSize } from '../speech/engines/qwen3-tts/model.ts'
import { cpuSeconds, median, memoryOf } from './speech-parts/accounts.ts'
import { ask } from './speech-parts/ask.ts'

const variants: readonly { readonly id: string; readonly repository: string; readonly size: QwenSize }[] = [
  { id: 'customvoice-0.6b', repository: 'Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice', size: smallSize },
  { id: 'customvoice-1.7b', repository: 'Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice', size: largeSize },
]

/** Random weights seldom end a text: it is cut at its limit, 9 s here. */
const text = 'Here.'

/** Prints load, speed, first byte and memory of each size, beside the time that reading its weights takes. */
export async function bench(): Promise<void> {
  for (const variant of variants) {
    const folder = mkdtempSync(join(tmpdir(), 'aichat-bench-'))
    try {
      print(`\n${variant.id}`)
      const model = join(folder, 'models', variant.repository)
      await timed('making random weights', () => makeQwenModel(model, variant.size))
      await measureServer(folder, variant.id)
      await measureBound(folder, model, variant.size)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

export async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const begun = performance.now()
  const result = await work()
  print(`${what}: ${((performance.now() - begun) / 1000).toFixed(1)} s`)
  return result
}

async function measureServer(folder: string, variant: string): Promise<void> {
  const places = {
    modelsFolder: join(folder, 'models'),
    cacheFolder: join(folder, 'cache'),
    hubEndpoint: 'http://127.0.0.1:9',
    // On a busy machine one chunk may take minutes; what it takes is printed.
    chunkMs: 600_000,
    variant,
  }
  const cold = openSpeechService({ server: 'voxa-tts', ...places })
  await timed('first load, with quantisation', () => cold.load())
  print(`memory at most while quantising: ${memoryOf(cold.pid!, 'VmHWM')} MB`)
  await cold.close()
  const installation = openInstallation()
  const service = openSpeechService({ server: 'voxa-tts', ...places })
  const server = createServer(createSpeechServer({ app: installation.app, observe: () => {} }, service))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await timed('later loads', () => service.load())
  print(`pace measured at load: ${service.health().pace} × real time`)
  const rounds: { speed: number; perCpu: number; first: number }[] = []
  for (let round = 0; round < 3; round++) {
    const [begun, cpu] = [performance.now(), cpuSeconds(service.pid!)]
    const { audio, first } = await ask(port, text, 'ryan')
    const seconds = (performance.now() - begun) / 1000
    rounds.push({ speed: audio / seconds, perCpu: audio / (cpuSeconds(service.pid!) - cpu), first })
  }
  const middle = (key: keyof (typeof rounds)[0]) => median(rounds.map((each) => each[key]))
  print(
    `over HTTP: ${middle('speed').toFixed(2)} × real time, ${middle('perCpu').toFixed(2)} audio s / CPU s, first byte after ${middle('first').toFixed(0)} ms`,
  )
  const [resident, peak] = ['VmRSS', 'VmHWM'].map((field) => memoryOf(service.pid!, field))
  print(`memory of the engine's processes: ${resident} MB now, ${peak} MB at most; load ${loadavg()[0]!.toFixed(1)}`)
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
  await service.close()
  await installation.close()
}

/** The least time of a frame: its weights are read once for the talker, and once for each of the other codes. */
async function measureBound(folder: string, model: string, { groups }: QwenSize): Promise<void> {
  const file = await openTensorFile(join(model, 'model.safetensors'))
  const quantised = await openQuantised(file, quantisationPlan(join(folder, 'cache')))
  let bytes = 0
  for (const { name, length } of quantised.tensors.values())
    bytes += /code_predictor\.(model|small)/.test(name) ? length * (groups - 1) : length
  await quantised.close()
  await file.close()
  const threads = Math.max(1, Math.min(2, availableParallelism() - 1))
  const bandwidth = await measureBandwidth(folder, threads)
  const seconds = bytes / bandwidth
  print(
    `bound: ${(bytes / 1e6).toFixed(0)} MB a frame at ${(bandwidth / 1e9).toFixed(1)} GB/s with ${threads} thread(s): ${(0.08 / seconds).toFixed(2)} × real time`,
  )
}

/** Bytes per second of one row against matrices that no cache holds, in the form of the model's. */
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
  const graph = createGraph('bandwidth')
  const weights = createWeights(graph, file)
  const x = graph.input('x', 'float32', [1, inputs])
  const sum = names.map((name) => weights.linear(x, name)).reduce((total, value) => add(graph, total, value))
  graph.output('y', sum, 'float32', [1, outputs])
  const session = await openSession(graph.encode(), { name: 'bandwidth', weightsFolder: folder, threads })
  const feeds = { x: { type: 'float32' as const, shape: [1, inputs], data: new Float32Array(inputs).fill(0.5) } }
  await session.run(feeds)
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 12; round++) {
    const begun = performance.now()
    await session.run(feeds)
    least = Math.min(least, (performance.now() - begun) / 1000)
  }
  await session.close()
  await file.close()
  return (size * count) / least
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
