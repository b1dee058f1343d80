// With --all only: a neural engine.
/** Server A over HTTP, with Qwen3-TTS in the models folder and without. */
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openSpeechService } from '../../../../speech/service.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { assertRefused, openSpeech, spokenBy } from '../../../helpers/speech/speech-server.ts'
import { suite } from '../../../helpers/suite.ts'
import { makeQwenModel, tinySize } from './model.ts'

const test = suite('server A with qwen3-tts')

/** The repositories of the variants that these tests install. */
const repositories = {
  'customvoice-1.7b': ['Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice', { kind: 'custom_voice' }],
  'voicedesign-1.7b': ['Qwen/Qwen3-TTS-12Hz-1.7B-VoiceDesign', { kind: 'voice_design' }],
  'base-0.6b': ['Qwen/Qwen3-TTS-12Hz-0.6B-Base', { kind: 'base', size: '0b6' }],
} as const

type Variant = keyof typeof repositories

async function openServer(installed: Variant, variant: Variant) {
  const modelsFolder = temporaryFolder()
  const [repository, change] = repositories[installed]
  await makeQwenModel(join(modelsFolder, repository), { ...tinySize, ...change })
  return openSpeech('voxa-tts', { variant, modelsFolder, cacheFolder: temporaryFolder() })
}

async function assertSpoken(answer: Response): Promise<void> {
  assert.is((await spokenBy('qwen3-tts', answer)).readUInt32LE(24), 300)
}

test('preset voices, instructions and all ten languages are spoken by the installed variant', async () => {
  await using server = await openServer('customvoice-1.7b', 'customvoice-1.7b')
  const { pace, ...health } = await server.health()
  assert.ok(Number(pace) > 0)
  assert.equal(
    { ...health, reason: undefined },
    {
      status: 'healthy',
      model_loaded: true,
      engine: 'qwen3-tts',
      model: 'customvoice-1.7b',
      device: 'cpu',
      reason: undefined,
    },
  )
  for (const voice of ['Ryan', 'ono_anna', 'alloy', undefined])
    await assertSpoken(await server.post('/v1/audio/speech', { input: 'The other hour.', voice, instruct: 'slowly' }))
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
    await assertSpoken(await server.post('/v1/audio/speech', { input, language, voice: 'vivian' }))
  await assertRefused(await server.post('/v1/audio/speech', { input: 'Dag.', language: 'Dutch' }), 400, /language/)
  await assertRefused(
    await server.clone('The other hour.', 4),
    503,
    /serve voxa-tts --model base-1\.7b.*serve voxa-tts --model base-0\.6b/,
  )
  const described = { input: 'The other hour.', voice_description: 'deep' }
  await assertRefused(
    await server.post('/v1/audio/voice-design', described),
    503,
    /serve voxa-tts --model voicedesign-1\.7b/,
  )
})

test('a description and a recording give a voice where their variant is installed', async () => {
  const designing = await openServer('voicedesign-1.7b', 'voicedesign-1.7b')
  const described = { input: 'The other hour.', voice_description: 'a deep, warm voice', language: 'English' }
  await assertSpoken(await designing.post('/v1/audio/voice-design', described))
  const speech = await designing.post('/v1/audio/speech', { input: 'The hour.', voice: 'ryan' })
  await assertRefused(speech, 503, /--model customvoice-1\.7b.*--model customvoice-0\.6b/)
  await designing.close()
  await using cloning = await openServer('base-0.6b', 'base-0.6b')
  await assertSpoken(await cloning.clone('The other hour.', 4))
})

test('a variant that is not installed is named in the health, and the built-in voice speaks', async () => {
  await using server = await openServer('base-0.6b', 'customvoice-1.7b')
  const health = await server.health()
  assert.equal([health['engine'], health['model_loaded']], ['embedded', false])
  assert.match(String(health['reason']), /customvoice-1\.7b of voxa-tts is not installed, only base-0\.6b/)
  const answer = await server.post('/v1/audio/speech', { input: 'The other hour.' })
  assert.equal([answer.status, answer.headers.get('x-speech-engine')], [200, 'embedded'])
  await answer.arrayBuffer()
})

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
