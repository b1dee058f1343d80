// Some with --all only: a neural engine.
/** Server B over HTTP, with a pocket-tts model in the models folder and without. */
import { once } from 'node:events'
import { truncate } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { writeWav } from '../../../../speech/audio/wav.ts'
import { openSpeechService } from '../../../../speech/service.ts'
import { createSpeechServer } from '../../../../src/server/speech.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { openInstallation } from '../../../helpers/program/installation.ts'
import { suite } from '../../../helpers/suite.ts'
import { makePocketModel, type PocketSize, tinySize } from './model.ts'

const test = suite('server B with pocket-tts')

const openEdition = join('kyutai', 'pocket-tts-without-voice-cloning', 'languages', 'english')

/** Server B on loopback over a models folder that `fill` has filled. */
async function withServer(
  fill: (models: string) => Promise<void>,
  work: (address: string) => Promise<void>,
): Promise<void> {
  const installation = openInstallation()
  const modelsFolder = temporaryFolder()
  await fill(modelsFolder)
  const service = openSpeechService({
    server: 'voxb-tts',
    modelsFolder,
    cacheFolder: temporaryFolder(),
    hubEndpoint: 'http://127.0.0.1:9',
  })
  const server = createServer(createSpeechServer({ app: installation.app, observe: () => {} }, service))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await service.load().catch(() => undefined)
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
    await service.close()
    await installation.close()
  }
}

const tiny =
  (change: Partial<PocketSize> = {}) =>
  (models: string) =>
    makePocketModel(join(models, openEdition), { ...tinySize, ...change })

function ask(address: string, body: unknown): Promise<Response> {
  return fetch(`${address}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

test.whole('speaks with the installed model and says so, and clones a recording', () =>
  withServer(tiny(), async (address) => {
    const health = (await (await fetch(`${address}/health`)).json()) as Record<string, unknown>
    assert.equal(health, {
      status: 'healthy',
      model_loaded: true,
      rerolls: 0,
      engine: 'pocket-tts',
      model: 'voxb-tts',
      device: 'cpu',
    })
    for (const stream of [false, true]) {
      const answer = await ask(address, { input: 'The fox jumps.', voice: 'alloy', stream })
      assert.is(answer.status, 200)
      assert.is(answer.headers.get('x-speech-engine'), 'pocket-tts')
      const wav = Buffer.from(await answer.arrayBuffer())
      assert.is(wav.toString('latin1', 0, 4), 'RIFF')
      assert.is(wav.readUInt32LE(24), 300)
      assert.ok(wav.length > 44 + 25 * 24 * 2, `${wav.length} bytes`)
    }
    const cloned = await clone(address)
    assert.equal([cloned.status, cloned.headers.get('x-speech-engine')], [200, 'pocket-tts'])
    await cloned.arrayBuffer()
  }),
)

function clone(address: string): Promise<Response> {
  const form = new FormData()
  form.set('input', 'The fox jumps.')
  const samples = Float32Array.from({ length: 8000 }, (_, i) => Math.sin(i / 9) / 2)
  form.set('reference_audio', new Blob([new Uint8Array(writeWav(samples, 8000))]), 'clip.wav')
  return fetch(`${address}/v1/audio/voice-clone`, { method: 'POST', body: form })
}

test.whole('without the encoder a clone is refused, with what is missing', () =>
  withServer(tiny({ encoder: 'zeros' }), async (address) => {
    const answer = await clone(address)
    assert.is(answer.status, 503)
    const { error, details } = (await answer.json()) as { error: string; details: string[] }
    assert.match(error, 'cannot clone')
    assert.match(details.join('\n'), 'HF_TOKEN')
  }),
)

test('a damaged model is named by the health and by every answer, and nothing else speaks in its place', () =>
  withServer(
    async (models) => {
      await tiny()(models)
      await truncate(join(models, openEdition, 'model.safetensors'), 20_000)
    },
    async (address) => {
      const health = (await (await fetch(`${address}/health`)).json()) as Record<string, unknown>
      assert.is(health['status'], 'failed')
      assert.is(health['model_loaded'], false)
      assert.match(String(health['reason']), 'model.safetensors')
      const answer = await ask(address, { input: 'The fox jumps.' })
      assert.is(answer.status, 503)
      assert.match(JSON.stringify(await answer.json()), 'model.safetensors')
    },
  ))

test('without a model the embedded engine speaks and says so', () =>
  withServer(
    async () => {},
    async (address) => {
      const health = (await (await fetch(`${address}/health`)).json()) as Record<string, unknown>
      assert.is(health['engine'], 'embedded')
      assert.is(health['model_loaded'], false)
      assert.match(String(health['reason']), 'no neural model of voxb-tts is installed')
    },
  ))

test.run()
