// With --all only: a whole sample: every preset, heard by a recogniser.
import * as assert from 'uvu/assert'
import { joinSamples } from '../../../../speech/audio/sample-queue.ts'
import { createEngine } from '../../../../speech/engines/flite/engine.ts'
import { presetSpeaker } from '../../../../speech/engines/flite/speaker.ts'
import { readManifest, serverIds } from '../../../../speech/servers/manifest.ts'
import { findRecogniser, type Recogniser, type Recording, wordErrorRate } from '../../../helpers/speech/recogniser.ts'
import { suite } from '../../../helpers/suite.ts'
import { recogniserSentences } from '../../recogniser-sentences.ts'

const test = suite('flite is understood')

/**
 * The figures of aichat-benchmarks(7): no sentence of any preset has a higher rate than `worst` (0.33), all together
 * have no higher one than `mean` (0.09, the worst preset's). One of the ten sentences here for each preset, in turns, and
 * a quick search; `npm run bench -- speech` has every preset say all ten and searches thoroughly.
 */
const limits = { worst: 0.34, mean: 0.1 } as const
const engine = createEngine()

const name = 'every preset of every server is understood, noise and reversed speech are not'
const recogniser = findRecogniser()
if (recogniser) test(name, () => understand(recogniser))
else test.skip(name, () => {})

async function understand(recogniser: Recogniser): Promise<void> {
  // Two servers share a voice of one name, and one has two names for a voice: each is heard once.
  const voices = new Map<string, string>()
  for (const id of serverIds)
    for (const { id: voice } of readManifest(id).voices) {
      const settings = JSON.stringify(presetSpeaker(voice))
      if (!voices.has(settings)) voices.set(settings, voice)
    }
  const recordings = new Map<string, Recording>()
  const texts = new Map<string, string>()
  for (const [index, voice] of [...voices.values()].entries()) {
    const text = recogniserSentences[index % recogniserSentences.length]!
    texts.set(voice, text)
    recordings.set(voice, await speak(voice, text))
  }
  const speech = recordings.get('ryan')!
  recordings.set('reversed', { ...speech, samples: speech.samples.toReversed() })
  recordings.set('noise', { ...speech, samples: noiseLike(speech.samples) })
  const heard = await recogniser.transcribe(recordings, 'quick')
  const rate = (name: string, text = texts.get(name)!) => wordErrorRate(text, heard.get(name) ?? '')

  const rates = [...texts.keys()].map((name) => ({ name, rate: rate(name) }))
  const words = (text: string) => text.split(' ').length
  const total = [...texts.values()].reduce((sum, text) => sum + words(text), 0)
  const mean = rates.reduce((sum, row) => sum + row.rate * words(texts.get(row.name)!), 0) / total
  const figures = rates.map((row) => `${row.name} ${row.rate.toFixed(2)}`).join(', ')
  process.stdout.write(`\nnote: word error rate ${mean.toFixed(3)} over all presets: ${figures}\n`)
  for (const row of rates) assert.ok(row.rate <= limits.worst, `${row.name} has ${row.rate}`)
  assert.ok(mean <= limits.mean, `all together have ${mean}`)
  const [noise, reversed] = [rate('noise', texts.get('ryan')), rate('reversed', texts.get('ryan'))]
  process.stdout.write(
    `note: word error rate of controls: noise ${noise.toFixed(2)}, reversed ${reversed.toFixed(2)}\n`,
  )
  assert.ok(noise > 0.8, `noise has ${noise}`)
  assert.ok(reversed > 0.8, `reversed speech has ${reversed}`)
}

async function speak(preset: string, text: string): Promise<Recording> {
  const voice = await engine.prepareVoice({ kind: 'preset', voice: preset })
  const pieces: Float32Array[] = []
  for await (const piece of engine.synthesize({ text, voice })) pieces.push(piece)
  return { samples: joinSamples(pieces), sampleRate: engine.sampleRate }
}

/** Noise with the loudness of the speech at every moment, from a fixed seed (Park and Miller 1988). */
function noiseLike(samples: Float32Array): Float32Array {
  let state = 1
  return samples.map((sample) => {
    state = (state * 48_271) % 0x7fff_ffff
    return Math.abs(sample) * (2 * (state / 0x7fff_ffff) - 1)
  })
}

test.run()
