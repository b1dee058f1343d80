import * as assert from 'uvu/assert'
import { joinSamples } from '../../../speech/audio/sample-queue.ts'
import type { SpeechEngine } from '../../../speech/engines/engine.ts'
import { type Recogniser, type Recording, wordErrorRate } from '../../helpers/speech/recogniser.ts'

const sentences = [
  'The quick brown fox jumps over the lazy dog near the river bank.',
  'She told them that the weather would change before the end of the week.',
]

/** English sentences in these presets are understood, and the speech of the first one reversed is not. Closes the engine. */
export async function assertUnderstood(
  recogniser: Recogniser,
  name: string,
  engine: SpeechEngine,
  presets: readonly string[],
): Promise<void> {
  await engine.load()
  const made = new Map<string, Recording>()
  for (const preset of presets) {
    const voice = await engine.prepareVoice({ kind: 'preset', voice: preset })
    for (const [index, text] of sentences.entries()) {
      const pieces: Float32Array[] = []
      for await (const piece of engine.synthesize({ text, voice, language: 'English', seed: 1 })) pieces.push(piece)
      const samples = joinSamples(pieces)
      const { sampleRate } = engine
      made.set(`${preset}.${index}`, { samples, sampleRate })
      const reversed = `reversed.${index}`
      if (!made.has(reversed)) made.set(reversed, { samples: samples.toReversed(), sampleRate })
    }
  }
  await engine.close()
  const heard = await recogniser.transcribe(made)
  const rate = (voice: string) =>
    wordErrorRate(sentences.join(' '), sentences.map((_, index) => heard.get(`${voice}.${index}`)).join(' '))
  const rates = presets.map((voice) => `${voice} ${rate(voice).toFixed(2)}`).join(', ')
  process.stdout.write(`\nnote: word error rate, ${name}: ${rates}\n`)
  for (const voice of presets) assert.ok(rate(voice) <= 0.2, `${voice} has ${rate(voice)}`)
  assert.ok(rate('reversed') > 0.8, `reversed speech has ${rate('reversed')}`)
}
