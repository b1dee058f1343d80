// Some with --all only: a neural engine.
/** Server B over HTTP, with a pocket-tts model in the models folder and without. */
import { truncate } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { assertRefused, openSpeech, type SpeechServer, spokenBy } from '../../../helpers/speech/speech-server.ts'
import { suite } from '../../../helpers/suite.ts'
import { makePocketModel, type PocketSize, tinySize } from './model.ts'

const test = suite('server B with pocket-tts')

const openEdition = join('kyutai', 'pocket-tts-without-voice-cloning', 'languages', 'english')

/** Server B on loopback over a models folder that `fill` has filled. */
async function openServer(fill: (models: string) => Promise<void>) {
  const modelsFolder = temporaryFolder()
  await fill(modelsFolder)
  return openSpeech('voxb-tts', { modelsFolder, cacheFolder: temporaryFolder() })
}

const tiny =
  (change: Partial<PocketSize> = {}) =>
  (models: string) =>
    makePocketModel(join(models, openEdition), { ...tinySize, ...change })

const ask = (server: SpeechServer, more: object = {}) =>
  server.post('/v1/audio/speech', { input: 'The fox jumps.', ...more })

test.whole('speaks with the installed model and says so, and clones a recording', async () => {
  await using server = await openServer(tiny())
  assert.equal(await server.health(), {
    ...{ status: 'healthy', model_loaded: true },
    ...{ engine: 'pocket-tts', model: 'voxb-tts', device: 'cpu' },
  })
  for (const stream of [false, true]) {
    const wav = await spokenBy('pocket-tts', await ask(server, { voice: 'alloy', stream }))
    assert.is(wav.readUInt32LE(24), 300)
    assert.ok(wav.length > 44 + 25 * 24 * 2, `${wav.length} bytes`)
  }
  await spokenBy('pocket-tts', await server.clone('The fox jumps.', 1))
})

test.whole('without the encoder a clone is refused, with what is missing', async () => {
  await using server = await openServer(tiny({ encoder: 'zeros' }))
  const answer = await server.clone('The fox jumps.', 1)
  assert.is(answer.status, 503)
  const { error, details } = (await answer.json()) as { error: string; details: string[] }
  assert.match(error, 'cannot clone')
  assert.match(details.join('\n'), 'HF_TOKEN')
})

test.whole(
  'a damaged model is named by the health and by every answer, and nothing else speaks in its place',
  async () => {
    await using server = await openServer(async (models) => {
      await tiny()(models)
      await truncate(join(models, openEdition, 'model.safetensors'), 20_000)
    })
    const { status, reason, model_loaded } = await server.health()
    assert.equal([status, model_loaded], ['failed', false])
    assert.match(String(reason), 'model.safetensors')
    await assertRefused(await ask(server), 503, /model\.safetensors/)
  },
)

test('without a model the embedded engine speaks and says so', async () => {
  await using server = await openServer(async () => {})
  const { engine, reason, model_loaded } = await server.health()
  assert.equal([engine, model_loaded], ['embedded', false])
  assert.match(String(reason), 'no neural model of voxb-tts is installed')
})

test.run()
