// With --all only: a neural engine.
/** With the real weights, where they were pulled: the English voices of Kyutai TTS are understood. */
import * as assert from 'uvu/assert'
import { joinSamples } from '../../../../speech/audio/sample-queue.ts'
import { createKyutaiEngine } from '../../../../speech/engines/kyutai-tts/engine.ts'
import { findKyutaiModel, voiceFolders } from '../../../../speech/engines/kyutai-tts/model-folder.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { findRecogniser, type Recording, wordErrorRate } from '../../../helpers/speech/recogniser.ts'
import { suite } from '../../../helpers/suite.ts'

const test = suite('the voices of Kyutai TTS are understood')

const sentences = [
  'The quick brown fox jumps over the lazy dog near the river bank.',
  'She told them that the weather would change before the end of the week.',
]
/** Voices that are pulled with the model without agreeing to a licence. */
const voices = ['alba', 'vctk-p225']
const name = 'English voices of the pulled model are understood, and their speech reversed is not'

const models = process.env['AICHAT_MODELS_DIR']
const folder = models ? findKyutaiModel(models) : undefined
if (!models || !folder) {
  process.stdout.write('skipped: AICHAT_MODELS_DIR holds no Kyutai TTS model (aichat models pull voxb-tts-1.6b)\n')
  test.skip(name, () => undefined)
} else {
  const recogniser = findRecogniser()
  if (recogniser)
    test(name, async () => {
      const heard = await recogniser.transcribe(await recordings(models, folder))
      const rate = (voice: string) =>
        wordErrorRate(sentences.join(' '), sentences.map((_, index) => heard.get(`${voice}.${index}`)).join(' '))
      const rates = voices.map((voice) => `${voice} ${rate(voice).toFixed(2)}`).join(', ')
      process.stdout.write(`\nnote: word error rate, kyutai-tts: ${rates}\n`)
      for (const voice of voices) assert.ok(rate(voice) <= 0.2, `${voice} has ${rate(voice)}`)
      assert.ok(rate('reversed') > 0.8, `reversed speech has ${rate('reversed')}`)
    })
  else test.skip(name, () => undefined)
}

async function recordings(modelsFolder: string, from: string): Promise<Map<string, Recording>> {
  const places = { folder: from, cacheFolder: temporaryFolder(), voices: voiceFolders(modelsFolder, from) }
  const engine = createKyutaiEngine(places)
  await engine.load()
  const made = new Map<string, Recording>()
  for (const preset of voices) {
    const voice = await engine.prepareVoice({ kind: 'preset', voice: preset })
    for (const [index, text] of sentences.entries()) {
      const pieces: Float32Array[] = []
      for await (const piece of engine.synthesize({ text, voice, language: 'English', seed: 1 })) pieces.push(piece)
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
