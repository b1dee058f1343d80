// Some with --all only: a whole sample.
import * as assert from 'uvu/assert'
import type { WordTime } from '../../../../speech/engines/engine.ts'
import { createEngine } from '../../../../speech/engines/flite/engine.ts'
import { suite } from '../../../helpers/suite.ts'

const test = suite('when flite’s words are heard')
const engine = createEngine()
test.before(() => engine.load())
test.after(() => engine.close())

test.whole('each word as it was written has its time, in order, within the audio, in every base voice', async () => {
  const text =
    "Well, Dr. Smith's 23 cats (and the dog) cost €5.50 today. Temperatures of 20 °C; e.g. 50% of it. Didn't they?"
  for (const voice of ['alba', 'ryan', 'aiden', 'uncle_fu']) {
    const { words, seconds } = await say(text, voice)
    assert.is(words.map((word) => word.text).join(' '), text, voice)
    for (const [index, { start, end }] of words.entries()) {
      assert.ok(start >= (words[index - 1]?.end ?? 0) - 1e-6, `${voice}: ${words[index]!.text}`)
      assert.ok(end > start && end <= seconds + 1e-6)
    }
    assert.ok(words.at(-1)!.end > seconds - 0.5)
  }
})

test('between two sentences it is silent where the words say so, and loud within the words', async () => {
  for (const voice of ['alba', 'ryan']) {
    const { words, samples } = await say('We came along. Nobody knows.', voice)
    const loudness = (from: number, to: number) => {
      const part = samples.subarray(Math.round(from * engine.sampleRate), Math.round(to * engine.sampleRate))
      return Math.sqrt(part.reduce((sum, sample) => sum + sample * sample, 0) / part.length)
    }
    const [, , along, nobody] = words
    assert.ok(loudness(along!.end + 0.06, nobody!.start - 0.06) < 0.005)
    for (const { start, end } of words) assert.ok(loudness(start, end) > 0.03)
  }
})

test('a text with silent signs and repeated words loses no word', async () => {
  const { words } = await say('— Oh — the the the — end & so on.', 'alba')
  assert.match(words.map((word) => word.text).join(' '), /Oh — the the the — end & so on\./)
})

async function say(text: string, preset: string) {
  const voice = await engine.prepareVoice({ kind: 'preset', voice: preset })
  const words: WordTime[] = []
  const pieces: Float32Array[] = []
  for await (const piece of engine.synthesize({ text, voice, onWords: (more) => void words.push(...more) }))
    pieces.push(piece)
  const samples = Float32Array.from(pieces.flatMap((piece) => [...piece]))
  return { words, samples, seconds: samples.length / engine.sampleRate }
}

test.run()
