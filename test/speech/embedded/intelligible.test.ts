import * as assert from 'uvu/assert'
import { createEngine } from '../../../speech/embedded/engine.ts'
import { presets } from '../../../speech/embedded/speaker.ts'
import { readManifest, type ServerId, serverIds } from '../../../speech/manifest.ts'
import { joinSamples } from '../../../speech/sample-queue.ts'
import { suite } from '../../suite.ts'
import { findJudge, type Judge, type Recording, wordErrorRate } from '../judge.ts'

const test = suite('the embedded voices are understood')

/** One sentence here, to be quick; `npm run bench -- speech` has the figures over five. */
const sentence = 'She told them that the weather would change before the end of the week.'
/** The worst word error rate of a preset; server C may have some that are harder to follow. */
const limits: Readonly<Record<ServerId, number>> = { 'voxa-tts': 0.2, 'voxb-tts': 0.2, 'voxb-tts-1.6b': 0.35 }
const engine = createEngine()

const name = 'every preset of every server is understood, noise and reversed speech are not'
const recogniser = findJudge()
if (recogniser) test(name, () => judge(recogniser))
else test.skip(name, () => {})

async function judge(judge: Judge): Promise<void> {
  // Two servers share a voice of one name, and one has two names for a voice: each is heard once.
  const recordings = new Map<string, Recording>()
  const names = new Map<string, string>()
  for (const id of serverIds)
    for (const { id: voice } of readManifest(id).voices) {
      const settings = JSON.stringify(presets[voice])
      if (!names.has(settings)) recordings.set(voice, await speak(voice))
      names.set(settings, names.get(settings) ?? voice)
    }
  const speech = recordings.get('ryan')!
  recordings.set('reversed', { ...speech, samples: speech.samples.toReversed() })
  recordings.set('noise', { ...speech, samples: noiseLike(speech.samples) })
  const heard = await judge.transcribe(recordings)
  const rate = (name: string) =>
    wordErrorRate(sentence, heard.get(names.get(JSON.stringify(presets[name])) ?? name) ?? '')

  for (const id of serverIds) {
    const rates = readManifest(id).voices.map((voice) => ({ voice: voice.id, rate: rate(voice.id) }))
    const clear = rates.filter((row) => row.rate <= 0.2).length
    const figures = rates.map((row) => `${row.voice} ${row.rate.toFixed(2)}`).join(', ')
    process.stdout.write(`\nnote: word error rate, ${id} (${clear} of ${rates.length} up to 0.20): ${figures}\n`)
    for (const row of rates) assert.ok(row.rate <= limits[id], `${id}: ${row.voice} has ${row.rate}`)
  }
  const [noise, reversed] = [rate('noise'), rate('reversed')]
  process.stdout.write(
    `note: word error rate of controls: noise ${noise.toFixed(2)}, reversed ${reversed.toFixed(2)}\n`,
  )
  assert.ok(noise > 0.8, `noise has ${noise}`)
  assert.ok(reversed > 0.8, `reversed speech has ${reversed}`)
}

async function speak(preset: string): Promise<Recording> {
  const voice = await engine.prepareVoice({ kind: 'preset', voice: preset })
  const pieces: Float32Array[] = []
  for await (const piece of engine.synthesize({ text: sentence, voice })) pieces.push(piece)
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
