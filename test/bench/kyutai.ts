/**
 * Server C with Kyutai TTS on random weights of the published size, which this bench makes: what they speak is noise, but
 * nothing that is computed depends on what is spoken, except how soon the next word comes.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfiguration } from '../../speech/engines/kyutai-tts/configuration.ts'
import { quantisationPlan } from '../../speech/engines/kyutai-tts/model.ts'
import { kyutaiRepository } from '../../speech/engines/kyutai-tts/repositories.ts'
import { dividedFile, languageFile } from '../../speech/engines/kyutai-tts/tensors.ts'
import { openSpeechService } from '../../speech/service.ts'
import { openQuantised } from '../../src/inference/quantisation.ts'
import { openTensorFile } from '../../src/inference/safetensors.ts'
import { createSpeechServer } from '../../src/server/speech.ts'
import { openInstallation } from '../installation.ts'
import { files, largeSize, makeKyutaiModel, makeVoice } from '../speech/engines/kyutai-tts/model.ts'
import { measureBandwidth, timed } from './qwen.ts'
import { cpuSeconds, median, memoryOf } from './speech-parts/accounts.ts'
import { ask } from './speech-parts/ask.ts'

const text = 'The fox jumps.'

/** Prints load, speed, first byte and memory with all codebooks and with half of them, beside the time that reading its weights takes. */
export async function bench(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'aichat-bench-'))
  try {
    const model = join(folder, 'models', kyutaiRepository)
    await timed('making random weights', () => makeKyutaiModel(model, largeSize))
    await makeVoice(join(model, 'voices/alba.safetensors'), largeSize, { frames: 125 })
    await measureFirstLoad(folder)
    const threads = Math.max(1, Math.min(2, availableParallelism() - 1))
    for (const codebooks of [32, 16, 8]) {
      print(`\n${codebooks} codebooks`)
      await measureServer(folder, codebooks)
      const [bytes, bandwidth] = [
        await bytesPerFrame(folder, model, codebooks),
        await measureBandwidth(folder, threads),
      ]
      print(
        `bound: ${(bytes / 1e6).toFixed(0)} MB a frame at ${(bandwidth / 1e9).toFixed(1)} GB/s with ${threads} thread(s): ${(0.08 / (bytes / bandwidth)).toFixed(2)} × real time`,
      )
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const placesOf = (folder: string, codebooks?: number) => ({
  server: 'voxb-tts-1.6b' as const,
  modelsFolder: join(folder, 'models'),
  cacheFolder: join(folder, 'cache'),
  hubEndpoint: 'http://127.0.0.1:9',
  // On a busy machine one chunk may take minutes; what it takes is printed.
  chunkMs: 600_000,
  codebooks,
})

async function measureFirstLoad(folder: string): Promise<void> {
  const cold = openSpeechService(placesOf(folder))
  await timed('first load, with quantisation', () => cold.load())
  print(`memory at most while quantising: ${memoryOf(cold.pid!, 'VmHWM')} MB`)
  await cold.close()
}

async function measureServer(folder: string, codebooks: number): Promise<void> {
  const installation = openInstallation()
  const service = openSpeechService(placesOf(folder, codebooks))
  const server = createServer(createSpeechServer({ app: installation.app, observe: () => {} }, service))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await timed('later loads', () => service.load())
  print(`pace measured at load: ${service.health().pace} × real time`)
  const rounds: { speed: number; perCpu: number; first: number }[] = []
  for (let round = 0; round < 3; round++) {
    const [begun, cpu] = [performance.now(), cpuSeconds(service.pid!)]
    const { audio, first } = await ask(port, text, 'alba')
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

/** A frame's weights: those of the backbone once, and of the depth transformer a set for each codebook. */
async function bytesPerFrame(folder: string, model: string, codebooks: number): Promise<number> {
  const { schedule, sets } = await readConfiguration(model)
  const file = languageFile(await openTensorFile(join(model, files.model)))
  const quantised = await openQuantised(dividedFile(file, sets), quantisationPlan(join(folder, 'cache')))
  const uses = (set: number) => schedule.slice(0, codebooks).filter((each) => each === set).length
  let bytes = 0
  for (const { name, length } of quantised.tensors.values()) bytes += length * readsOf(name, uses, codebooks)
  await quantised.close()
  await file.close()
  return bytes
}

/** How often a tensor is read for a frame. */
function readsOf(name: string, uses: (set: number) => number, codebooks: number): number {
  const set =
    /^depformer\..*#(\d+)/.exec(name) ?? /^depformer\..*gating\.(\d+)/.exec(name) ?? /^depformer_in\.(\d+)/.exec(name)
  if (set) return uses(Number(set[1]))
  const head = /^linears\.(\d+)/.exec(name)
  if (head) return Number(head[1]) < codebooks ? 1 : 0
  // Keys and values of the voice are computed once for a text.
  return /cross_attention\.in_proj_weight#[12]/.test(name) ? 0 : 1
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
