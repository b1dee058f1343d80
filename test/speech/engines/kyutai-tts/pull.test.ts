// With --all only: a neural engine.
/** `aichat models pull voxb-tts-1.6b` from a hub on loopback, and server C on the pulled files. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { voiceFileName, voicePaths } from '../../../../speech/engines/kyutai-tts/repositories.ts'
import { readManifest } from '../../../../speech/servers/manifest.ts'
import { openSpeechService } from '../../../../speech/service.ts'
import { knownModels, nonCommercialParts } from '../../../../src/model-hub/known-models.ts'
import { closing } from '../../../helpers/disposal.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { openFastHome } from '../../../helpers/program/terminal.ts'
import { openLoopbackHub } from '../../../helpers/providers/loopback-hub.ts'
import { suite } from '../../../helpers/suite.ts'
import { makeKyutaiModel, makeVoice } from './model.ts'

const test = suite('pulling Kyutai TTS')

const model = knownModels.get('voxb-tts-1.6b')!
const [edition] = model.editions

test('all that the server needs is pulled at fixed revisions, and every voice of its table with the licence said there', () => {
  assert.match(model.summary, /GB to download.*GB of memory/)
  assert.is(model.licence, 'CC-BY-4.0')
  for (const { revision } of edition!.files) assert.match(revision, /^[0-9a-f]{40}$/)
  const { voices } = readManifest('voxb-tts-1.6b')
  assert.equal(
    Object.keys(voicePaths),
    voices.map(({ id }) => id),
  )
  for (const { id, licence } of voices) {
    const file = edition!.files.find(({ as }) => as === `voices/${voiceFileName(id)}.safetensors`)
    assert.is(file?.path, `${voicePaths[id]}.1e68beda@240.safetensors`)
    assert.is(file?.nonCommercial, licence.includes('-NC-') ? licence : undefined)
  }
  assert.equal(nonCommercialParts(model).names, ['expresso-angry', 'expresso-happy', 'expresso-sad'])
})

test('what comes is said before it comes, and weights that are not the published ones are refused', async () => {
  await using hub = closing(await openLoopbackHub())
  const folder = temporaryFolder()
  await makeKyutaiModel(folder)
  using home = openFastHome({ HF_ENDPOINT: hub.endpoint, AICHAT_MODELS_DIR: temporaryFolder() })
  for (const { repository, revision, path } of edition!.files) {
    const content = readFileSync(join(folder, path === 'config.json' ? path : 'dsm.safetensors'))
    hub.files.set(`${repository}@${revision}/${path}`, { content, large: path.endsWith('.safetensors') })
  }
  const pulled = await home.aichat(['models', 'pull', model.name])
  assert.is.not(pulled.code, 0)
  assert.match(pulled.stderr, /Kyutai TTS 1\.6B: .*4\.1 GB to download.*2\.4 GB of memory/)
  assert.match(pulled.stderr, /the licence of voxb-tts-1\.6b is CC-BY-4\.0/)
  assert.match(pulled.stderr, /dsm_tts_1e68beda@240\.safetensors/)
})

test('the pulled files lie where server C looks for them', async () => {
  const modelsFolder = temporaryFolder()
  const folder = join(modelsFolder, edition!.folder)
  await makeKyutaiModel(folder)
  for (const { as } of edition!.files) if (as.startsWith('voices/')) await makeVoice(join(folder, as))
  const places = { modelsFolder, cacheFolder: temporaryFolder(), hubEndpoint: 'http://127.0.0.1:9' }
  const service = openSpeechService({ server: 'voxb-tts-1.6b', ...places })
  await service.load()
  assert.equal([service.health().engine, service.health().model_loaded], ['kyutai-tts', true])
  for (const voice of Object.keys(voicePaths)) {
    const speech = await service.speak({ input: 'The hour.', voice })
    let bytes = 0
    for await (const piece of speech.pcm(false)) bytes += piece.length
    assert.ok(bytes > 0, voice)
  }
  await service.close()
})

test.run()
