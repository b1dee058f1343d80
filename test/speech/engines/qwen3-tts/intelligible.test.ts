// With --all only: a neural engine.
/** With the real weights, where they were pulled: the English voices of Qwen3-TTS are understood. */
import * as assert from 'uvu/assert'
import { joinSamples } from '../../../../speech/audio/sample-queue.ts'
import { createQwenEngine } from '../../../../speech/engines/qwen3-tts/engine.ts'
import { findQwenModel } from '../../../../speech/engines/qwen3-tts/model-folder.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { findRecogniser, type Recording, wordErrorRate } from '../../../helpers/speech/recogniser.ts'
import { suite } from '../../../helpers/suite.ts'

const test = suite('the voices of Qwen3-TTS are understood')

const sentences = [
  'The quick brown fox jumps over the lazy dog near the river bank.',
  'She told them that the weather would change before the end of the week.',
]
const voices = ['ryan', 'aiden']

const models = process.env['AICHAT_MODELS_DIR']
const installed = ['customvoice-0.6b', 'customvoice-1.7b'].flatMap((variant) => {
  const folder = models ? findQwenModel(models, variant) : undefined
  return folder ? [{ variant, folder }] : []
})
const recogniser = installed.length > 0 ? findRecogniser() : undefined
if (installed.length === 0)
  process.stdout.write('skipped: AICHAT_MODELS_DIR holds no preset variant (aichat models pull voxa-tts)\n')
if (!recogniser) test.skip('English presets are understood, and their speech reversed is not', () => undefined)
else
  for (const { variant, folder } of installed)
    test(`${variant}: English presets are understood, and their speech reversed is not`, async () => {
      const heard = await recogniser.transcribe(await recordings(folder))
      const rate = (voice: string) =>
        wordErrorRate(sentences.join(' '), sentences.map((_, index) => heard.get(`${voice}.${index}`)).join(' '))
      process.stdout.write(
        `\nnote: word error rate, ${variant}: ${voices.map((voice) => `${voice} ${rate(voice).toFixed(2)}`).join(', ')}\n`,
      )
      for (const voice of voices) assert.ok(rate(voice) <= 0.2, `${voice} has ${rate(voice)}`)
      assert.ok(rate('reversed') > 0.8, `reversed speech has ${rate('reversed')}`)
    })

async function recordings(folder: string): Promise<Map<string, Recording>> {
  const engine = createQwenEngine({ folder, cacheFolder: temporaryFolder() })
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
