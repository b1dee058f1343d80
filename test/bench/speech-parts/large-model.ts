/**
 * The parts shared by the benches of the neural engines: a server on a model of published size, its figures, and the bound
 * of its weights.
 */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { openSpeechService, type ServiceOptions } from '../../../speech/service.ts'
import { createSpeechServer } from '../../../src/server/speech.ts'
import { openInstallation } from '../../helpers/program/installation.ts'
import { median, print } from '../parts/figures.ts'
import { cpuSeconds, memoryOf, ownCpuSeconds, watchMemory } from './accounts.ts'
import { ask } from './ask.ts'
import { measureBandwidth } from './bandwidth.ts'

/** The model that is served. */
export type ServedModel = Pick<ServiceOptions, 'server' | 'variant' | 'codebooks'>

/** Seconds of sound in a frame of both models. */
const frameSeconds = 0.08

const rounds = 3

export async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const begun = performance.now()
  const result = await work()
  print(`${what}: ${((performance.now() - begun) / 1000).toFixed(1)} s`)
  return result
}

function openService(folder: string, model: ServedModel) {
  return openSpeechService({
    ...model,
    modelsFolder: join(folder, 'models'),
    cacheFolder: join(folder, 'cache'),
    hubEndpoint: 'http://127.0.0.1:9',
    // On a busy machine one chunk may take minutes; its time is printed.
    chunkMs: 600_000,
  })
}

/** Prints the time and memory of the load that quantises. */
export async function measureFirstLoad(folder: string, model: ServedModel): Promise<void> {
  const cold = openService(folder, model)
  const stop = watchMemory(() => cold.pid)
  await timed('first load, with quantisation', () => cold.load())
  print(`memory at most while quantising: ${stop()} MB`)
  await cold.close()
}

/**
 * Prints the later load, speed, first byte and memory over HTTP. Returns seconds of speech per second of the language
 * model's own processor time, once speech has begun: comparable with its bound on a busy machine too.
 */
export async function measureServer(
  folder: string,
  model: ServedModel,
  { input, voice }: { readonly input: string; readonly voice: string },
): Promise<number> {
  const installation = openInstallation()
  const service = openService(folder, model)
  const server = createServer(createSpeechServer({ app: installation.app, observe: () => {} }, service))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const stop = watchMemory(() => service.pid)
  await timed('later loads', () => service.load())
  print(`pace measured at load: ${service.health().pace} × real time`)
  const made: { speed: number; perCpu: number; model: number; first: number; audio: number }[] = []
  for (let round = 0; round < rounds; round++) {
    const pid = service.pid!
    const [begun, cpu] = [performance.now(), cpuSeconds(pid)]
    let own = ownCpuSeconds(pid)
    const { audio, heard, first } = await ask(port, input, voice, () => {
      own = ownCpuSeconds(pid)
    })
    const seconds = (performance.now() - begun) / 1000
    const perModel = (audio - heard) / (ownCpuSeconds(pid) - own)
    made.push({ speed: audio / seconds, perCpu: audio / (cpuSeconds(pid) - cpu), model: perModel, first, audio })
  }
  const middle = (key: keyof (typeof made)[0]) => median(made.map((each) => each[key]))
  print(
    `over HTTP, ${middle('audio').toFixed(1)} s of speech: ${middle('speed').toFixed(2)} × real time, ${middle('perCpu').toFixed(2)} audio s / CPU s, first byte after ${middle('first').toFixed(0)} ms; load ${loadavg()[0]!.toFixed(1)}`,
  )
  print(`memory: ${memoryOf(service.pid!, 'VmRSS')} MB now, ${stop()} MB at most`)
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
  await service.close()
  await installation.close()
  return middle('model')
}

/** Prints the least processor time of a frame, that of reading its weights, and the reached part of that speed. */
export async function measureBound(folder: string, bytes: number, reached: number): Promise<void> {
  const threads = Math.max(1, Math.min(2, availableParallelism() - 1))
  const bandwidth = await measureBandwidth(folder, threads)
  const bound = frameSeconds / (bytes / bandwidth)
  print(
    `bound: ${(bytes / 1e6).toFixed(0)} MB a frame at ${(bandwidth / 1e9).toFixed(1)} GB per CPU second: ${bound.toFixed(2)} audio s / CPU s; the language model reaches ${reached.toFixed(2)}, ${((100 * reached) / bound).toFixed(0)} %`,
  )
}
