// With --all only: a neural engine.
/** Server A over HTTP, with Qwen3-TTS in the models folder and without. */
import { once } from 'node:events'
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
import { makeQwenModel, tinySize } from './model.ts'

const test = suite('server A with qwen3-tts')

/** The repositories of the variants that these tests install. */
const repositories = {
  'customvoice-1.7b': ['Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice', { kind: 'custom_voice' }],
  'base-0.6b': ['Qwen/Qwen3-TTS-12Hz-0.6B-Base', { kind: 'base', size: '0b6' }],
} as const

type Variant = keyof typeof repositories

async function withServer(
  installed: readonly Variant[],
  variant: Variant,
  work: (address: string) => Promise<void>,
): Promise<void> {
  const installation = openInstallation()
  const modelsFolder = temporaryFolder()
  for (const each of installed) {
    const [repository, change] = repositories[each]
    await makeQwenModel(join(modelsFolder, repository), { ...tinySize, ...change })
  }
  const service = openSpeechService({
    server: 'voxa-tts',
    variant,
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

function post(address: string, path: string, body: unknown): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return fetch(`${address}/v1/audio/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
}

function clone(address: string): Promise<Response> {
  const form = new FormData()
  form.set('input', 'The other hour.')
  const samples = Float32Array.from({ length: 8000 * 4 }, (_, i) => Math.sin(i / 9) / 2)
  form.set('reference_audio', new Blob([new Uint8Array(writeWav(samples, 8000))]), 'clip.wav')
  return fetch(`${address}/v1/audio/voice-clone`, { method: 'POST', body: form })
}

async function assertSpoken(answer: Response): Promise<Buffer> {
  const wav = Buffer.from(await answer.arrayBuffer())
  assert.is(answer.status, 200, wav.toString('utf8', 0, 400))
  assert.is(answer.headers.get('x-speech-engine'), 'qwen3-tts')
  assert.is(wav.toString('latin1', 0, 4), 'RIFF')
  assert.is(wav.readUInt32LE(24), 300)
  assert.ok(wav.length > 44)
  return wav
}

async function assertRefused(answer: Response, status: number, says: RegExp): Promise<void> {
  const text = await answer.text()
  assert.is(answer.status, status, text)
  assert.match(text, says)
}

test('preset voices, instructions and all ten languages are spoken by the installed variant', () =>
  withServer(['customvoice-1.7b'], 'customvoice-1.7b', async (address) => {
    const { pace, ...health } = (await (await fetch(`${address}/health`)).json()) as Record<string, unknown>
    assert.ok(Number(pace) > 0)
    assert.equal(
      { ...health, reason: undefined },
      {
        status: 'healthy',
        model_loaded: true,
        rerolls: 0,
        engine: 'qwen3-tts',
        model: 'customvoice-1.7b',
        device: 'cpu',
        reason: undefined,
      },
    )
    for (const voice of ['Ryan', 'ono_anna', 'alloy', undefined])
      await assertSpoken(await post(address, 'speech', { input: 'The other hour.', voice, instruct: 'slowly' }))
    const texts = {
      English: 'The other thing.',
      Chinese: '今天天气很好。',
      Japanese: 'こんにちは。',
      Korean: '안녕하세요.',
      German: 'Guten Morgen.',
      French: 'Bonjour.',
      Spanish: 'Buenos días.',
      Italian: 'Buongiorno.',
      Portuguese: 'Bom dia.',
      Russian: 'Привет.',
    }
    for (const [language, input] of Object.entries(texts))
      await assertSpoken(await post(address, 'speech', { input, language, voice: 'vivian' }))
    await assertRefused(await post(address, 'speech', { input: 'Dag.', language: 'Dutch' }), 400, /language/)
    await assertRefused(
      await clone(address),
      503,
      /serve voxa-tts --model base-1\.7b.*serve voxa-tts --model base-0\.6b/,
    )
    const described = { input: 'The other hour.', voice_description: 'deep' }
    await assertRefused(await post(address, 'voice-design', described), 503, /serve voxa-tts --model voicedesign-1\.7b/)
  }))

test('a variant that is not installed is named in the health, and the built-in voice speaks', () =>
  withServer(['base-0.6b'], 'customvoice-1.7b', async (address) => {
    const health = (await (await fetch(`${address}/health`)).json()) as Record<string, unknown>
    assert.is(health['engine'], 'embedded')
    assert.is(health['model_loaded'], false)
    assert.match(String(health['reason']), /customvoice-1\.7b of voxa-tts is not installed, only base-0\.6b/)
    const answer = await post(address, 'speech', { input: 'The other hour.' })
    assert.is(answer.status, 200)
    assert.is(answer.headers.get('x-speech-engine'), 'embedded')
    await answer.arrayBuffer()
  }))

test('without a named variant an installed one that does the same things speaks, and a named one is not replaced', async () => {
  const modelsFolder = temporaryFolder()
  const small = join(modelsFolder, 'Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice')
  await makeQwenModel(small, { ...tinySize, size: '0b6' })
  const places = {
    server: 'voxa-tts',
    modelsFolder,
    cacheFolder: temporaryFolder(),
    hubEndpoint: 'http://127.0.0.1:9',
  } as const
  for (const [options, variant, engine] of [
    [{}, 'customvoice-0.6b', 'qwen3-tts'],
    [{ variant: 'customvoice-1.7b', orLike: true }, 'customvoice-0.6b', 'qwen3-tts'],
    [{ variant: 'customvoice-1.7b' }, 'customvoice-1.7b', 'embedded'],
    [{ variant: 'base-1.7b', orLike: true }, 'base-1.7b', 'embedded'],
  ] as const) {
    const service = openSpeechService({ ...places, ...options })
    assert.equal([service.health().model, service.health().engine], [variant, engine])
    await service.close()
  }
})

test.run()
