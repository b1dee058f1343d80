// With --all only: a neural engine.
/** `aichat models pull voxa-tts…` from a hub on loopback, and server A on the pulled files. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { writeWav } from '../../../../speech/audio/wav.ts'
import { openSpeechService } from '../../../../speech/service.ts'
import { openHttpClient } from '../../../../src/http-client/agent.ts'
import { openHub } from '../../../../src/model-hub/hub.ts'
import { type KnownModel, knownModels } from '../../../../src/model-hub/known-models.ts'
import { closing } from '../../../helpers/disposal.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { openFastHome } from '../../../helpers/program/terminal.ts'
import { openLoopbackHub } from '../../../helpers/providers/loopback-hub.ts'
import { suite } from '../../../helpers/suite.ts'
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
  await using hub = closing(await openLoopbackHub())
  const models = temporaryFolder()
  using home = openFastHome({ HF_ENDPOINT: hub.endpoint, AICHAT_MODELS_DIR: models })
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
})

test('a pulled variant speaks, and another variant finds its own files', async () => {
  await using hub = closing(await openLoopbackHub())
  await using outbound = closing(openHttpClient({ allowPrivate: true }))
  const modelsFolder = temporaryFolder()
  // The tiny files cannot have the published hashes: the hub's own digests count, as for files without a published one.
  const known = new Map([...knownModels].map(([name, model]) => [name, unpinned(model)]))
  const models = openHub({ modelsFolder, known, endpoint: hub.endpoint, token: undefined, send: outbound.send })
  const variantsHere = {
    'customvoice-0.6b': { ...tinySize, size: '0b6' },
    'base-1.7b': { ...tinySize, kind: 'base' },
  } as const
  const places = {
    server: 'voxa-tts',
    modelsFolder,
    cacheFolder: temporaryFolder(),
    hubEndpoint: hub.endpoint,
  } as const
  for (const [variant, size] of Object.entries(variantsHere)) {
    const folder = temporaryFolder()
    await makeQwenModel(folder, size)
    const name = nameOf(variant)
    for (const { repository, revision, path } of known.get(name)!.editions[0]!.files) {
      const content = readFileSync(join(folder, path))
      hub.files.set(`${repository}@${revision}/${path}`, { content, large: path.endsWith('.safetensors') })
    }
    await models.pull(name)
    assert.is(models.find(name)?.verified, true)
  }
  assert.is((await models.pull(nameOf('base-1.7b'))).downloaded, 0)
  const clip = Float32Array.from({ length: 32_000 }, (_, i) => Math.sin(i / 9) / 2)
  const recording = { kind: 'recording', wav: writeWav(clip, 8000) } as const
  for (const [variant, voice] of [
    ['customvoice-0.6b', 'ryan'],
    ['base-1.7b', recording],
  ] as const) {
    const service = openSpeechService({ ...places, variant })
    await service.load()
    assert.equal([service.health().engine, service.health().model_loaded], ['qwen3-tts', true])
    const speech = await service.speak({ input: 'The other hour.', voice })
    let bytes = 0
    for await (const piece of speech.pcm(false)) bytes += piece.length
    assert.ok(bytes > 0)
    assert.is(speech.spoken, speech.total)
    speech.place.release()
    await service.close()
  }
})

/** A model with files that are checked by the hub's own digests. */
function unpinned(model: KnownModel): KnownModel {
  const editions = model.editions.map((edition) => ({
    ...edition,
    files: edition.files.map(({ sha256: _, bytes: __, ...file }) => file),
  }))
  return { ...model, editions }
}

test.run()
