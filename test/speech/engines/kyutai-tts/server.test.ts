// With --all only: a neural engine.
/** Server C over HTTP, with Kyutai TTS in the models folder and without. */
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openSpeechService, type ServiceOptions, type SpeechService } from '../../../../speech/service.ts'
import { createSpeechServer } from '../../../../src/server/speech.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { openInstallation } from '../../../helpers/program/installation.ts'
import { suite } from '../../../helpers/suite.ts'
import { files, makeKyutaiModel, makeVoice } from './model.ts'

const test = suite('server C with kyutai-tts')

const place = 'kyutai/tts-1.6b-en_fr'

interface Scene {
  readonly address: string
  readonly service: SpeechService
  readonly modelsFolder: string
  readonly events: string[]
}

async function withServer(
  work: (scene: Scene) => Promise<void>,
  options: Partial<ServiceOptions> & { readonly spoil?: (folder: string) => Promise<void> } = {},
): Promise<void> {
  const { spoil, ...rest } = options
  const installation = openInstallation()
  const modelsFolder = temporaryFolder()
  const events: string[] = []
  await makeKyutaiModel(join(modelsFolder, place))
  await makeVoice(join(modelsFolder, place, 'voices/alba.safetensors'))
  await makeVoice(join(modelsFolder, 'kyutai/tts-voices/vctk/p225_023.wav.1e68beda@240.safetensors'), undefined, {
    seed: 9,
  })
  await spoil?.(modelsFolder)
  const service = openSpeechService({
    server: 'voxb-tts-1.6b',
    modelsFolder,
    cacheFolder: temporaryFolder(),
    hubEndpoint: 'http://127.0.0.1:9',
    onEvent: (message, fields) => events.push(`${message} ${JSON.stringify(fields)}`),
    ...rest,
  })
  const server = createServer(createSpeechServer({ app: installation.app, observe: () => {} }, service))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await service.load().catch(() => undefined)
    await work({ address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, service, modelsFolder, events })
  } finally {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
    await service.close()
    await installation.close()
  }
}

function ask({ address }: Scene, body: unknown, signal?: AbortSignal): Promise<Response> {
  return fetch(`${address}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input: 'The other hour is late.', ...(body as object) }),
    ...(signal && { signal }),
  })
}

async function assertSpoken(answer: Response, engine = 'kyutai-tts'): Promise<Buffer> {
  const wav = Buffer.from(await answer.arrayBuffer())
  assert.is(answer.status, 200, wav.toString('utf8', 0, 400))
  assert.is(answer.headers.get('x-speech-engine'), engine)
  assert.is(wav.toString('latin1', 0, 4), 'RIFF')
  assert.ok(wav.length > 44)
  return wav
}

async function assertRefused(answer: Response, status: number, says: RegExp): Promise<void> {
  const text = await answer.text()
  assert.is(answer.status, status, text)
  assert.match(text, says)
}

const health = async ({ address }: Scene) =>
  (await (await fetch(`${address}/health`)).json()) as Record<string, unknown>

/** Fifty requests, some left in the middle, leave the server as it was. */
async function assertFlat(scene: Scene): Promise<void> {
  const residentOf = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${scene.service.pid}/status`, 'utf8'))?.[1])
  const long = { input: 'The other thing in another hour. '.repeat(20) }
  let before = 0
  for (let round = 0; round < 50; round++) {
    if (round % 5 === 0) {
      const left = new AbortController()
      const request = ask(scene, long, left.signal)
      left.abort()
      await request.catch(() => undefined)
    }
    await assertSpoken(await ask(scene, { input: 'Late.', voice: round % 2 === 0 ? 'alba' : 'echo' }))
    if (round === 24 && existsSync('/proc/self/status')) before = residentOf()
  }
  if (before > 0) assert.ok(residentOf() < before * 1.1 + 10_000, `${residentOf()} kB, and ${before} kB after 25`)
}

/** An engine that is killed in the middle of a text costs one chunk, and the next text is whole. */
async function assertLosesOneChunk({ service }: Scene): Promise<void> {
  const speech = await service.speak({ input: 'The other thing in another hour. '.repeat(20) })
  assert.ok(speech.total > 1)
  let bytes = 0
  for await (const piece of speech.pcm(true)) {
    if (bytes === 0) process.kill(service.pid!, 'SIGKILL')
    bytes += piece.length
  }
  assert.is(speech.spoken, speech.total - 1)
  const next = await service.speak({ input: 'The hour.' })
  for await (const _ of next.pcm(true));
  assert.is(next.spoken, next.total)
}

test('voices by name, alias and path of the hub, with guidance, in both languages; fifty requests; a killed engine', () =>
  withServer(async (scene) => {
    const { pace, ...rest } = await health(scene)
    assert.ok(Number(pace) > 0)
    const expected = {
      engine: 'kyutai-tts',
      model: 'voxb-tts-1.6b',
      model_loaded: true,
      device: 'cpu',
      status: 'healthy',
    }
    assert.equal({ ...expected, ...rest }, { ...rest, ...expected })
    for (const voice of ['alba', 'Alba-Casual', 'alloy', 'echo', 'VCTK-p225', 'vctk/p225_023.wav'])
      await assertSpoken(await ask(scene, { voice }))
    await assertSpoken(await ask(scene, { voice: 'kyutai/tts-voices/vctk/p225_023.wav.1e68beda@240.safetensors' }))
    for (const cfg_coef of [0, 1.5, 4, 10, null]) await assertSpoken(await ask(scene, { cfg_coef }))
    await assertSpoken(await ask(scene, { input: 'Il est tard, et voilà.', language: 'French' }))
    await assertRefused(await ask(scene, { cfg_coef: 11 }), 400, /cfg_coef/)
    await assertRefused(await ask(scene, { input: 'Guten Abend.', language: 'German' }), 503, /does not speak German/)
    await assertRefused(await ask(scene, { voice: 'nobody' }), 400, /not found/)
    await assertRefused(await ask(scene, { voice: 'expresso-happy' }), 400, /--non-commercial/)
    await assertRefused(await ask(scene, { voice: 'vctk/p999_023.wav' }), 503, /could not be fetched/)
    await assertRefused(await ask(scene, { voice: 'a/../b.wav' }), 400, /Invalid path/)
    await assertFlat(scene)
    await assertLosesOneChunk(scene)
  }))

test('a device that is not there is said when the service opens, and the processor speaks, with fewer codebooks too', () =>
  withServer(
    async (scene) => {
      assert.match(scene.events[0]!, /another device.*"asked":"cuda","device":"cpu"/)
      const { device, reason } = await health(scene)
      assert.is(device, 'cpu')
      assert.match(String(reason), /no cuda/)
      await assertSpoken(await ask(scene, {}))
    },
    { device: 'cuda', codebooks: 2 },
  ))

test('a damaged model is named by the health and by every answer, and nothing else speaks in its place', () =>
  withServer(
    async (scene) => {
      const { status, reason, model_loaded } = await health(scene)
      assert.equal([status, model_loaded], ['failed', false])
      assert.match(String(reason), files.codec)
      await assertRefused(await ask(scene, {}), 503, /codec\.safetensors/)
    },
    { spoil: (folder) => rm(join(folder, place, files.codec)) },
  ))

test('without the model the built-in voice speaks, also for paths of the hub that it had before', () =>
  withServer(
    async (scene) => {
      assert.match(String((await health(scene))['reason']), /no neural model of voxb-tts-1\.6b is installed/)
      await assertSpoken(await ask(scene, {}), 'embedded')
    },
    { spoil: (folder) => rm(join(folder, place), { recursive: true }) },
  ))

test.run()
