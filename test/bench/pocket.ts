/**
 * Server B with pocket-tts on random weights of the published size, made by this bench: the speech is noise, but the
 * computation depends on it only at the end of speech, which never comes here.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { decoderShape } from '../../speech/blocks/mimi-decoder.ts'
import type { Stream } from '../../speech/blocks/state-stream.ts'
import { openPocketModel, type PocketModel, quantisationPlan } from '../../speech/engines/pocket-tts/model.ts'
import { openSpeechService, type SpeechService } from '../../speech/service.ts'
import { openQuantised } from '../../src/inference/quantisation.ts'
import { openTensorFile } from '../../src/inference/safetensors.ts'
import type { TensorData } from '../../src/inference/session.ts'
import { createSpeechServer } from '../../src/server/speech.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { openInstallation } from '../helpers/program/installation.ts'
import { makePocketModel, officialSize } from '../speech/engines/pocket-tts/model.ts'
import { openPublicDecoder, openPublicLanguageModel } from './pocket-parts/public-layout.ts'
import { cpuSeconds, median, memoryOf } from './speech-parts/accounts.ts'
import { type Answer, ask } from './speech-parts/ask.ts'

const sentences = [
  'The quick brown fox jumps over the lazy dog near the river.',
  'She had your dark suit in greasy wash water all year.',
  'A large size in stockings is hard to sell.',
]

const texts = [
  { name: '1 sentence', text: sentences[0]!, count: 7 },
  { name: '3 sentences', text: sentences.join(' '), count: 5 },
  { name: '9 sentences', text: Array(3).fill(sentences.join(' ')).join(' '), count: 2 },
]

/** Prints speed, first byte and memory of server B, then our state layout beside the public one. */
export async function bench(): Promise<void> {
  const folder = temporaryFolder()
  const model = join(folder, 'models', 'kyutai', 'pocket-tts', 'languages', 'english')
  await timed('making 110 million random weights', () => makePocketModel(model, officialSize))
  await measureServer(folder)
  await measureLayouts(folder, model)
}

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const begun = performance.now()
  const result = await work()
  print(`${what}: ${((performance.now() - begun) / 1000).toFixed(2)} s`)
  return result
}

/** Server B over HTTP with the engine in its own process, as it is served. */
async function measureServer(folder: string): Promise<void> {
  const places = {
    modelsFolder: join(folder, 'models'),
    cacheFolder: join(folder, 'cache'),
    hubEndpoint: 'http://127.0.0.1:9',
  }
  const cold = openSpeechService({ server: 'voxb-tts', ...places })
  await timed('first load, with quantisation', () => cold.load())
  print(`memory at most while quantising: ${memoryOf(cold.pid!, 'VmHWM')} MB`)
  await cold.close()
  const installation = openInstallation()
  const service = openSpeechService({ server: 'voxb-tts', ...places })
  const server = createServer(createSpeechServer({ app: installation.app, observe: () => {} }, service))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await timed('later loads', () => service.load())
  await ask(port, 'Warm.', 'alba')
  print(`\n${'over HTTP, streamed'.padEnd(22)} audio s  × real time  audio s / CPU s  first byte ms (least)`)
  for (const { name, text, count } of texts) {
    const rounds: Round[] = []
    for (let round = 0; round < count; round++) rounds.push(await measure(service, () => ask(port, text, 'alba')))
    const [audio, speed, cpu, first] = (['audio', 'speed', 'perCpu', 'first'] as const).map((key) =>
      median(rounds.map((each) => each[key])),
    )
    const least = Math.min(...rounds.map((each) => each.first))
    print(
      `${name.padEnd(22)} ${audio!.toFixed(1).padStart(7)}  ${speed!.toFixed(2).padStart(11)}  ${cpu!.toFixed(2).padStart(15)}  ${first!.toFixed(0).padStart(13)} (${least.toFixed(0)})`,
    )
  }
  const [resident, peak] = ['VmRSS', 'VmHWM'].map((field) => memoryOf(service.pid!, field))
  print(`memory of the engine's processes: ${resident} MB now, ${peak} MB at most; load ${loadavg()[0]!.toFixed(1)}`)
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
  await service.close()
  await installation.close()
}

interface Round extends Answer {
  readonly speed: number
  readonly perCpu: number
}

async function measure(service: SpeechService, work: () => Promise<Answer>): Promise<Round> {
  const [begun, cpu] = [performance.now(), cpuSeconds(service.pid!)]
  const answer = await work()
  const seconds = (performance.now() - begun) / 1000
  return { ...answer, speed: answer.audio / seconds, perCpu: answer.audio / (cpuSeconds(service.pid!) - cpu) }
}

/** Our layout beside the public one, frame by frame in the same minutes. */
async function measureLayouts(folder: string, path: string): Promise<void> {
  const cacheFolder = join(folder, 'cache')
  const model = await openPocketModel({ folder: path, cacheFolder })
  const file = await openTensorFile(join(path, 'model.safetensors'))
  const quantised = await openQuantised(file, quantisationPlan(cacheFolder))
  const { geometry, languageModel: shape, configuration } = model
  const decoder = decoderShape(geometry, configuration)
  const theirs = {
    language: await openPublicLanguageModel(quantised, shape, geometry.latent),
    decoder: await openPublicDecoder(file, geometry, decoder, configuration.mimi.context),
  }
  const ours = { language: model.openLanguageStream(), decoder: model.openDecoder() }
  // A voice of 125 rows and a text of 20.
  const rows = 145
  const prefill = { embeddings: floats([rows, shape.width], 0.1), latents: floats([0, geometry.latent]) }
  await ours.language.run(prefill, rows)
  await theirs.language.run(prefill, rows)
  const voice = ours.language.cache.copy()
  const byOurs = (latents: TensorData) => ours.decoder.decode(latents.data as Float32Array)
  const byTheirs = (latents: TensorData) => theirs.decoder.run({ latents }, geometry.decoder.stride)
  const contestants: readonly (Contestant & { readonly name: string; readonly times: Cost[] })[] = [
    { name: 'append-only, ours', language: ours.language, decode: byOurs, together: 4, times: [] },
    { name: 'append-only, frame by frame', language: ours.language, decode: byOurs, together: 1, times: [] },
    { name: 'public five-graph layout', language: theirs.language, decode: byTheirs, together: 1, times: [] },
  ]
  for (let round = 0; round < 6; round++)
    for (const contestant of contestants) {
      ours.language.reset(voice)
      await ours.decoder.reset()
      theirs.language.rewind(rows)
      theirs.decoder.rewind(0)
      const cost = await frames(model, contestant, 16)
      if (round > 0) contestant.times.push(cost)
    }
  print(`\n${'the same weights'.padEnd(28)} × real time  audio s / CPU s`)
  const results = contestants.map(({ name, times }) => {
    const [wall, cpu] = (['wall', 'cpu'] as const).map((key) => 0.08 / median(times.map((cost) => cost[key])))
    print(`${name.padEnd(28)} ${wall!.toFixed(2).padStart(11)}  ${cpu!.toFixed(2).padStart(15)}`)
    return { wall: wall!, cpu: cpu! }
  })
  const [first, , last] = results
  print(
    `ours against the public layout: ${(first!.wall / last!.wall).toFixed(2)} × in wall time, ${(first!.cpu / last!.cpu).toFixed(2)} × in CPU time`,
  )
  for (const opened of [theirs.language, theirs.decoder, quantised, file, model]) await opened.close()
}

interface Cost {
  /** Seconds per frame. */
  readonly wall: number
  readonly cpu: number
}

interface Contestant {
  readonly language: Pick<Stream, 'run'>
  decode(latents: TensorData): Promise<unknown>
  /** Frames per call of the decoder. */
  readonly together: number
}

async function frames(model: PocketModel, { language, decode, together }: Contestant, count: number): Promise<Cost> {
  const { latent } = model.geometry
  const { width } = model.languageModel
  const [begun, cpu] = [performance.now(), process.cpuUsage()]
  for (let frame = 1; frame <= count; frame++) {
    const { hidden } = await language.run({ embeddings: floats([0, width]), latents: floats([1, latent], 0.1) }, 1)
    await model.velocity(0, hidden!, floats([1, latent], 0.1))
    if (frame % together === 0) await decode(floats([together, latent], 0.1))
  }
  const used = process.cpuUsage(cpu)
  return { wall: (performance.now() - begun) / 1000 / count, cpu: (used.user + used.system) / 1e6 / count }
}

function floats(shape: readonly number[], value = 0): TensorData {
  return {
    type: 'float32',
    shape,
    data: new Float32Array(shape.reduce((product, size) => product * size, 1)).fill(value),
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
