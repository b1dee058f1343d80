// With --all only: a neural engine.
/** The Dutch model. Its authors publish its tokenizer in another form than the others'. */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openTokenizer } from '../../../../speech/engines/neural/tokenizer.ts'
import { readConfiguration } from '../../../../speech/engines/pocket-tts/configuration.ts'
import { readGeometry } from '../../../../speech/engines/pocket-tts/geometry.ts'
import { chunkText } from '../../../../speech/engines/pocket-tts/text.ts'
import { openSpeechService } from '../../../../speech/service.ts'
import { AppError } from '../../../../src/errors.ts'
import { openTensorFile } from '../../../../src/inference/safetensors.ts'
import { closing } from '../../../helpers/disposal.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { suite } from '../../../helpers/suite.ts'
import { makePocketModel, tinySize } from './model.ts'

const test = suite('pocket-tts for Dutch')

const size340 = { expected: 340, stated: 'the model has 340' }

/** Unigram pieces as `tokenizer.json` holds them, so many in all. */
function definition(pieces: number): object {
  const letters = [...'▁.!?,;:etaoinshrdlucmwfgypbvkjxqzZD', '...', "'"]
  const known = ['<unk>', '<s>', '</s>', '<pad>', ...letters]
  const others = Array.from({ length: pieces - known.length }, (_, index) => `\u2060${index}`)
  return {
    version: '1.0',
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: false },
    post_processor: null,
    decoder: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: false },
    model: { type: 'Unigram', unk_id: 0, vocab: [...known, ...others].map((piece, rank) => [piece, -rank / 100]) },
  }
}

async function makeDutchModel(models: string): Promise<string> {
  const folder = join(models, 'kyutai', 'pocket-tts-without-voice-cloning', 'languages', 'dutch')
  const { configuration: _, ...size } = tinySize
  await makePocketModel(folder, { ...size, layers: 6, endBias: 100 })
  await rm(join(folder, 'tokenizer.model'))
  await writeFile(join(folder, 'tokenizer.json'), JSON.stringify(definition(340)))
  return folder
}

test('its tokenizer cuts and joins text, and its marks are those that it was trained on', async () => {
  const folder = await makeDutchModel(temporaryFolder())
  const tokenizer = await openTokenizer(join(folder, 'tokenizer.json'), folder, size340)
  assert.equal([tokenizer.size, tokenizer.decode(tokenizer.encode('dag allen.'))], [340, 'dag allen.'])
  const file = await openTensorFile(join(folder, 'model.safetensors'))
  const configuration = await readConfiguration(folder, readGeometry(file))
  await file.close()
  assert.is(configuration.language, 'Dutch')
  const [chunk] = chunkText('“Zo’n (mooie) dag”', tokenizer, configuration, 12.5)
  assert.is(chunk!.text, "Zo'n mooie dag.")
})

test('server B speaks it by its name and its code, and no other server takes it', async () => {
  const modelsFolder = temporaryFolder()
  await makeDutchModel(modelsFolder)
  const places = { modelsFolder, cacheFolder: temporaryFolder(), hubEndpoint: 'http://127.0.0.1:9' }
  await using service = closing(openSpeechService({ server: 'voxb-tts', ...places }))
  for (const language of ['Dutch', 'nl', 'nl-BE']) {
    const speech = await service.speak({ input: 'Dag allen.', language, voice: 'alba' })
    let bytes = 0
    for await (const piece of speech.pcm(false)) bytes += piece.length
    assert.is(speech.engine, 'pocket-tts')
    assert.ok(bytes > 0, language)
  }
  const refused = await service.speak({ input: 'Dag.', language: 'da' }).catch((reason: unknown) => reason)
  assert.is((refused as AppError).code, 'invalid')
})

test('a tokenizer that is damaged or of another model is named', async () => {
  const folder = await makeDutchModel(temporaryFolder())
  const path = join(folder, 'tokenizer.json')
  for (const content of ['{', '{}', '[]']) {
    await writeFile(path, content)
    const refused = await openTokenizer(path, folder, size340).catch((reason: unknown) => reason)
    assert.instance(refused, AppError)
    assert.match((refused as AppError).message, 'tokenizer.json')
  }
})

test.run()
