/**
 * Server B with pocket-tts on random weights of the published size, made by this bench: the speech is noise, but the
 * computation depends on it only at the end of speech, which never comes here.
 */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { openSpeechService, type SpeechService } from '../../speech/service.ts'
import { createSpeechServer } from '../../src/server/speech.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { openInstallation } from '../helpers/program/installation.ts'
import { makePocketModel, officialSize } from '../speech/engines/pocket-tts/model.ts'
import { median, print } from './parts/figures.ts'
import { cpuSeconds, memoryOf } from './speech-parts/accounts.ts'
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

/** Prints speed, first byte and memory of server B. */
export async function bench(): Promise<void> {
  const folder = temporaryFolder()
  const model = join(folder, 'models', 'kyutai', 'pocket-tts', 'languages', 'english')
  await timed('making 110 million random weights', () => makePocketModel(model, officialSize))
  await measureServer(folder)
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
