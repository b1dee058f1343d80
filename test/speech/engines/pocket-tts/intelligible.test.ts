// With --all only: a neural engine.
/** With the real weights, where they were pulled: the voices of pocket-tts are understood. */
import * as assert from 'uvu/assert'
import { joinSamples } from '../../../../speech/audio/sample-queue.ts'
import { createPocketEngine } from '../../../../speech/engines/pocket-tts/engine.ts'
import { findPocketModels } from '../../../../speech/engines/pocket-tts/model-folder.ts'
import { presetNames } from '../../../../speech/engines/pocket-tts/voices.ts'
import { readManifest } from '../../../../speech/servers/manifest.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { findRecogniser, type Recording, wordErrorRate } from '../../../helpers/speech/recogniser.ts'
import { suite } from '../../../helpers/suite.ts'

const test = suite('the voices of pocket-tts are understood')

const sentences = [
  'The quick brown fox jumps over the lazy dog near the river bank.',
  'She told them that the weather would change before the end of the week.',
]
const name = 'every preset of the pulled model is understood, and its speech reversed is not'

const models = process.env['AICHAT_MODELS_DIR']
const folder = models ? findPocketModels(models).find(({ language }) => language === 'English')?.folder : undefined
if (!folder) {
  process.stdout.write('skipped: AICHAT_MODELS_DIR holds no English pocket-tts model (aichat models pull voxb-tts)\n')
  test.skip(name, () => undefined)
} else {
  const recogniser = findRecogniser()
  if (recogniser)
    test(name, async () => {
      const heard = await recogniser.transcribe(await recordings(folder))
      const rate = (voice: string) =>
        wordErrorRate(sentences.join(' '), sentences.map((_, index) => heard.get(`${voice}.${index}`)).join(' '))
      const voices = await spokenPresets(folder)
      assert.ok(voices.length > 0, 'a preset of server B is installed')
      process.stdout.write(
        `\nnote: word error rate, pocket-tts: ${voices.map((voice) => `${voice} ${rate(voice).toFixed(2)}`).join(', ')}\n`,
      )
      for (const voice of voices) assert.ok(rate(voice) <= 0.2, `${voice} has ${rate(voice)}`)
      assert.ok(rate('reversed') > 0.8, `reversed speech has ${rate('reversed')}`)
    })
  else test.skip(name, () => undefined)
}

async function spokenPresets(from: string): Promise<string[]> {
  const installed = await presetNames(from)
  return readManifest('voxb-tts')
    .voices.map(({ id }) => id)
    .filter((id) => installed.includes(id))
}

async function recordings(from: string): Promise<Map<string, Recording>> {
  const engine = createPocketEngine({ folder: from, cacheFolder: temporaryFolder() })
  await engine.load()
  const made = new Map<string, Recording>()
  for (const preset of await spokenPresets(from)) {
    const voice = await engine.prepareVoice({ kind: 'preset', voice: preset })
    for (const [index, text] of sentences.entries()) {
      const pieces: Float32Array[] = []
      for await (const piece of engine.synthesize({ text, voice, seed: 1 })) pieces.push(piece)
      const samples = joinSamples(pieces)
      made.set(`${preset}.${index}`, { samples, sampleRate: engine.sampleRate })
      if (!made.has(`reversed.${index}`))
        made.set(`reversed.${index}`, { samples: samples.toReversed(), sampleRate: engine.sampleRate })
    }
  }
  await engine.close()
  return made
}

test.run()
