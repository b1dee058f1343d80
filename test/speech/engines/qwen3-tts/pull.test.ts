/** `aichat models pull voxa-tts…` from a hub on loopback, and server A on the pulled files. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openSpeechService } from '../../../../speech/service.ts'
import { knownModels } from '../../../../src/model-hub/known-models.ts'
import { openLoopbackHub } from '../../../model-hub/loopback-hub.ts'
import { suite } from '../../../suite.ts'
import { openFastHome } from '../../../terminal.ts'
import { temporaryFolder } from '../pocket-tts/folders.ts'
import { makeQwenModel, tinySize } from './model.ts'

const test = suite('pulling Qwen3-TTS')

const variants = ['customvoice-1.7b', 'customvoice-0.6b', 'voicedesign-1.7b', 'base-1.7b', 'base-0.6b']
const nameOf = (variant: string) => (variant === variants[0] ? 'voxa-tts' : `voxa-tts-${variant}`)

test('every variant of the specification can be pulled whole, under Apache-2.0, with its size and memory said', () => {
  for (const variant of variants) {
    const { licence, summary, editions } = knownModels.get(nameOf(variant))!
    assert.is(licence, 'Apache-2.0')
    assert.match(summary, /GB to download.*GB of memory/)
    const paths = editions[0]!.files.map(({ path }) => path)
    assert.ok(paths.includes('model.safetensors') && paths.includes('speech_tokenizer/model.safetensors'), variant)
    for (const { revision } of editions[0]!.files) assert.match(revision, /^[0-9a-f]{40}$/)
  }
})

test('what comes is said before it comes, and a file that is not the published one is refused', async () => {
  const name = nameOf('customvoice-1.7b')
  const [edition] = knownModels.get(name)!.editions
  const folder = temporaryFolder()
  await makeQwenModel(folder, tinySize)
  const hub = await openLoopbackHub()
  const models = temporaryFolder()
  const home = openFastHome({ HF_ENDPOINT: hub.endpoint, AICHAT_MODELS_DIR: models })
  try {
    for (const { repository, revision, path } of edition!.files) {
      const content = readFileSync(join(folder, path))
      hub.files.set(`${repository}@${revision}/${path}`, { content, large: path.endsWith('.safetensors') })
    }
    // The published codec is known by its hash; the tiny one is another.
    const pulled = await home.aichat(['models', 'pull', name])
    assert.is.not(pulled.code, 0)
    assert.match(pulled.stderr, /Qwen3-TTS customvoice-1\.7b: .*4\.5 GB to download.*2\.4 GB of memory/)
    assert.match(pulled.stderr, /the licence of voxa-tts is Apache-2\.0/)
    assert.match(pulled.stderr, /speech_tokenizer\/model\.safetensors/)
  } finally {
    home.remove()
    await hub.close()
  }
})

test('the pulled files of a variant lie where server A looks for them', async () => {
  const modelsFolder = temporaryFolder()
  const [edition] = knownModels.get('voxa-tts-base-0.6b')!.editions
  await makeQwenModel(join(modelsFolder, edition!.folder), { ...tinySize, kind: 'base', size: '0b6' })
  const places = { modelsFolder, cacheFolder: temporaryFolder(), hubEndpoint: 'http://127.0.0.1:9' }
  const service = openSpeechService({ server: 'voxa-tts', variant: 'base-0.6b', ...places })
  await service.load()
  assert.is(service.health().engine, 'qwen3-tts')
  assert.is(service.health().model_loaded, true)
  await service.close()
})

test.run()
