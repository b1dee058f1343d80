// With --all only: a neural engine.
/** Server C over HTTP, with Kyutai TTS in the models folder and without. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { ServiceOptions } from '../../../../speech/service.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { assertRefused, openSpeech, type SpeechServer, spokenBy } from '../../../helpers/speech/speech-server.ts'
import { suite } from '../../../helpers/suite.ts'
import { makeKyutaiModel, makeVoice } from './model.ts'

const test = suite('server C with kyutai-tts')

const place = 'kyutai/tts-1.6b-en_fr'

async function openServer({
  spoil,
  ...options
}: Partial<ServiceOptions> & { readonly spoil?: (folder: string) => Promise<void> } = {}) {
  const modelsFolder = temporaryFolder()
  await makeKyutaiModel(join(modelsFolder, place))
  await makeVoice(join(modelsFolder, place, 'voices/alba.safetensors'))
  const vctk = 'kyutai/tts-voices/vctk/p225_023.wav.1e68beda@240.safetensors'
  await makeVoice(join(modelsFolder, vctk), undefined, { seed: 9 })
  await spoil?.(modelsFolder)
  return openSpeech('voxb-tts-1.6b', { modelsFolder, cacheFolder: temporaryFolder(), ...options })
}

const ask = (server: SpeechServer, body: object) =>
  server.post('/v1/audio/speech', { input: 'The other hour is late.', ...body })

const assertSpoken = (answer: Response) => spokenBy('kyutai-tts', answer)

/** Fifty requests, some left in the middle, leave the server as it was. */
async function assertFlat(scene: SpeechServer): Promise<void> {
  const residentOf = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${scene.service.pid}/status`, 'utf8'))?.[1])
  const long = { input: 'The other thing in another hour. '.repeat(20) }
  let before = 0
  for (let round = 0; round < 50; round++) {
    if (round % 5 === 0) {
      const left = new AbortController()
      const headers = { 'content-type': 'application/json' }
      const request = { method: 'POST', headers, body: JSON.stringify(long), signal: left.signal }
      const asked = fetch(`${scene.url}/v1/audio/speech`, request)
      left.abort()
      await asked.catch(() => undefined)
    }
    await assertSpoken(await ask(scene, { input: 'Late.', voice: round % 2 === 0 ? 'alba' : 'echo' }))
    if (round === 24 && existsSync('/proc/self/status')) before = residentOf()
  }
  if (before > 0) assert.ok(residentOf() < before * 1.1 + 10_000, `${residentOf()} kB, and ${before} kB after 25`)
}

/** An engine that is killed in the middle of a text costs one chunk, and the next text is whole. */
async function assertLosesOneChunk({ service }: SpeechServer): Promise<void> {
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

test('voices by name, alias and path of the hub, with guidance, in both languages; fifty requests; a killed engine', async () => {
  await using scene = await openServer()
  const { pace, ...rest } = await scene.health()
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
})

test('a device that is not there is said when the service opens, and the processor speaks, with fewer codebooks too', async () => {
  await using scene = await openServer({ device: 'cuda', codebooks: 2 })
  assert.match(scene.events[0]!, /another device.*"asked":"cuda","device":"cpu"/)
  const { device, reason } = await scene.health()
  assert.is(device, 'cpu')
  assert.match(String(reason), /no cuda/)
  await assertSpoken(await ask(scene, {}))
})

test.run()
