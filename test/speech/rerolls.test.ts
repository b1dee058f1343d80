// Some with --all only: many processes.
import * as assert from 'uvu/assert'
import { answerWith, speakWhole } from '../../speech/answer.ts'
import { createPace } from '../../speech/pace.ts'
import { readManifest } from '../../speech/servers/manifest.ts'
import { createSynthesis } from '../../speech/synthesis.ts'
import { splitChunks } from '../../speech/text/sentences.ts'
import { type ChanceOptions, chanceRate, createChanceEngine } from '../helpers/speech/chance-engine.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('chunks whose length is not what their text promises')

const sentence =
  'The north wind and the sun were disputing, when a traveler came along, wrapped in a warm and heavy cloak. '
const text = sentence.repeat(40).trim()
const chunks = splitChunks(text)

test.whole(
  'a chunk that lost a clause is spoken again with another seed, counted, and told in the header',
  async () => {
    for (const [dropped, seed] of [
      [6, undefined],
      [6, 7],
      [2, 7],
      [1, undefined],
    ] as const) {
      const seeds: (number | undefined)[] = []
      const synthesis = open({ drops: (_, number) => number === dropped }, seeds)
      const speech = await synthesis.open({ input: text, seed })
      const { headers, body } = await answerWith(speech, undefined)
      assert.is(headers['x-speech-rerolls'], '1', `the ${dropped}th`)
      assert.is(headers['x-speech-chunks'], `${chunks.length}/${chunks.length}`)
      assert.is((await bytesOf(body)).length, 44 + 2 * samplesOfWhole())
      assert.is(synthesis.stats().rerolls, 1)
      assert.is(seeds.length, chunks.length + 1)
      if (seed !== undefined) assert.is(new Set(seeds).size, chunks.length + 1)
    }
  },
)

test('where the second try is worse the first is kept, and no third is made', async () => {
  const synthesis = open({ drops: (_, number) => number === 6 || number === 7 })
  const speech = await synthesis.open({ input: text })
  await speakWhole(speech)
  assert.equal([speech.rerolls, synthesis.stats().chunks], [1, chunks.length + 1])
})

test('an equal request with an equal seed is the same audio, whatever was spoken meanwhile', async () => {
  const synthesis = open()
  const say = async (input: string, seed?: number) =>
    Buffer.concat(await speakWhole(await synthesis.open({ input, seed })))
  const first = await say(text, 5)
  for (let time = 0; time < 5; time++) await say('A very slow and strange text that is not like the others at all, no.')
  assert.equal(await say(text, 5), first)
  assert.not.equal(await say(text, 6), first)
})

test('nothing is rejected before enough was heard, and a short text has more room', () => {
  const pace = createPace()
  const line = 'A line of sixty letters that is spoken at a very usual speed here.'
  for (let heard = 0; heard < 4; heard++) {
    assert.not.ok(pace.isFarOff(line, 100))
    pace.learn(line, 4)
  }
  assert.ok(pace.isFarOff(line, 100))
  assert.ok(pace.isFarOff(line, 1))
  assert.not.ok(pace.isFarOff(line, 3.9))
  assert.not.ok(pace.isFarOff('Oh no.', 0.5))
})

test('a stream gives its first chunk as it comes', async () => {
  const speech = await open({ drops: (_, number) => number === 1 }).open({ input: text })
  const answer = await answerWith(speech, 'audio')
  assert.equal(answer.trailers, ['x-speech-chunks', 'x-speech-rerolls'])
  assert.ok((await bytesOf(answer.body)).length < 44 + 2 * samplesOfWhole())
  assert.is(answer.headers['x-speech-rerolls'], '0')
})

function open(options: ChanceOptions = {}, seeds: (number | undefined)[] = []) {
  const engine = createChanceEngine(options)
  return createSynthesis({
    manifest: readManifest('voxb-tts'),
    engine: {
      ...engine,
      synthesize(request, signal) {
        seeds.push(request.seed)
        return engine.synthesize(request, signal)
      },
    },
    fetchVoice: () => Promise.reject(new Error('nobody may ask the hub')),
  })
}

/** The samples of all words, and of the pauses of 0.35 s between chunks. */
function samplesOfWhole(): number {
  const letters = text.replace(/\s/g, '').length
  return letters * 0.01 * chanceRate + (chunks.length - 1) * 0.35 * chanceRate
}

async function bytesOf(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces)
}

test.run()
