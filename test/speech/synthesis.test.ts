import * as assert from 'uvu/assert'
import { speakWhole } from '../../speech/answer.ts'
import { wavHeader } from '../../speech/audio/wav.ts'
import type { SpeechEngine, VoiceSource } from '../../speech/engines/engine.ts'
import { readManifest, serverIds } from '../../speech/servers/manifest.ts'
import { createSynthesis, type SpeechInput, type SynthesisOptions } from '../../speech/synthesis.ts'
import { pauseAfter, splitChunks } from '../../speech/text/sentences.ts'
import { AppError } from '../../src/errors.ts'
import { suite } from '../helpers/suite.ts'
import { createEngine, faultyRate } from './faulty-engine.ts'

const test = suite('one request, from text to WAV')

const paragraph = 'The north wind and the sun were disputing which was the stronger when a traveler came along. '

test('10,000 characters become one WAV whose length is the sum of its chunks and pauses', async () => {
  const text = paragraph.repeat(200).slice(0, 10_000)
  const { speech, wav } = await say(text)
  const chunks = splitChunks(text.trim())
  assert.equal([speech.spoken, speech.total], [chunks.length, chunks.length])
  const pauses = chunks.slice(0, -1).map((chunk) => Math.round(pauseAfter(chunk) * faultyRate))
  const samples =
    chunks.reduce((sum, chunk) => sum + 100 * chunk.length, 0) + pauses.reduce((sum, pause) => sum + pause)
  assert.is(wav.length, 44 + 2 * samples)
  assert.is(wav.readUInt32LE(40), 2 * samples)
  assert.is(wav.readUInt32LE(24), faultyRate)
})

test('a chunk that fails is left out whole, counted and told', async () => {
  const skipped: unknown[] = []
  const text = `${paragraph.repeat(5)}This one will fail${', as it must'.repeat(40)}. ${paragraph.repeat(5)}`
  const { speech, wav } = await say(text, { onSkip: (event) => skipped.push(event) })
  assert.is(speech.spoken, speech.total - skipped.length)
  assert.ok(skipped.length > 0 && speech.spoken > 0)
  const spoken = splitChunks(text.trim()).filter((chunk) => !chunk.includes('fail'))
  const pauses = spoken.slice(0, -1).map((chunk) => Math.round(pauseAfter(chunk) * faultyRate))
  const samples =
    spoken.reduce((sum, chunk) => sum + 100 * chunk.length, 0) + pauses.reduce((sum, pause) => sum + pause)
  assert.is(wav.length, 44 + 2 * samples)
})

const refusals: readonly { readonly name: string; readonly input: SpeechInput; readonly code: string }[] = [
  { name: '10,001 characters', input: { input: 'a'.repeat(10_001) }, code: 'invalid' },
  { name: 'an empty text', input: { input: ' \n ' }, code: 'invalid' },
  { name: 'a text that is empty without its emoji', input: { input: '😀(laughs)' }, code: 'invalid' },
  { name: '9,990 unclosed parentheses', input: { input: '('.repeat(9990) }, code: 'invalid' },
  { name: 'an unknown voice', input: { input: 'Hi', voice: 'nobody' }, code: 'not_found' },
  { name: 'a property of objects as voice', input: { input: 'Hi', voice: '__proto__' }, code: 'not_found' },
  { name: 'an unknown language', input: { input: 'Hi', language: 'Klingon' }, code: 'invalid' },
  { name: 'a language the engine lacks', input: { input: 'Hi', language: 'French' }, code: 'unavailable' },
  { name: 'a text in such a language', input: { input: '你好，世界。' }, code: 'unavailable' },
  { name: 'a text none of which could be spoken', input: { input: 'fail' }, code: 'internal' },
]
for (const { name, input, code } of refusals)
  test(`${name} is ${code}`, async () => assert.is((await refused(input)).code, code))

test('a script is spoken turn by turn, each in its voice', async () => {
  const spoken: string[] = []
  const script = 'Narrator. [S2] Good evening. (laughs)\n[S1] And to you! [S2] <br>'
  const speakers = ['alba', 'cosette']
  await say(script, { engine: noting(spoken) }, { speakers })
  assert.equal(spoken, ['alba: Narrator.', 'cosette: Good evening.', 'alba: And to you!'])
  spoken.length = 0
  await say(script, { engine: noting(spoken, { speakers: 2 }) }, { speakers })
  assert.equal(spoken, ['alba+cosette, 0: Narrator.', 'alba+cosette, 1: Good evening.', 'alba+cosette, 0: And to you!'])
  spoken.length = 0
  await say('[S3] Me too.', { engine: noting(spoken, { speakers: 2 }) }, { speakers: [...speakers, 'javert'] })
  assert.equal(spoken, ['javert: Me too.'])
})

test('a script with a turn of nobody, and a voice beside speakers, are refused', async () => {
  const speakers = ['alba', 'cosette']
  const turn = await refused({ input: '[S1] Hi. [S3] Hello.', speakers })
  assert.equal([turn.code, turn.message], ['invalid', 'The text has a turn of [S3], and 2 speakers are named'])
  assert.match((await refused({ input: 'Hi.', voice: 'alba', speakers })).message, /not both/)
  assert.is((await refused({ input: '[S2]', speakers })).code, 'invalid')
})

test('10,000 emoji are 10,000 characters, not 20,000', async () =>
  assert.match((await refused({ input: '😀'.repeat(10_000) })).message, /empty/))

test('an unknown voice is answered with the names there are', async () => {
  const { details } = await refused({ input: 'Hi', voice: 'nobody' })
  assert.match(details.join(), /alba, marius, javert/)
  assert.match(details.join(), /alloy/)
})

test('voices and aliases are found in any case', async () => {
  for (const id of serverIds) {
    const manifest = readManifest(id)
    for (const [alias, voice] of Object.entries(manifest.aliases)) {
      const asked: string[] = []
      await say('Hi.', { manifest, engine: recording(asked) }, { voice: alias.toUpperCase() })
      assert.equal(asked, [voice])
    }
    assert.equal(Object.keys(manifest.aliases).sort(), ['alloy', 'echo', 'fable', 'nova', 'onyx', 'shimmer'])
    assert.ok(manifest.voices.some((voice) => voice.id === manifest.default_voice))
  }
})

test('a voice with a slash is a hub path where the server has such voices, and unknown elsewhere', async () => {
  const asked: string[] = []
  const fetchVoice = async (path: string) => {
    asked.push(path)
    return '/somewhere/voice.wav'
  }
  const voice = 'alba-mackenna/casual.wav'
  await say('Hi.', { fetchVoice }, { voice })
  await say('Hi.', { fetchVoice }, { voice: 'hf://owner/repository/a.safetensors' })
  assert.equal(asked, ['kyutai/tts-voices/alba-mackenna/casual.wav', 'owner/repository/a.safetensors'])
  assert.is((await refused({ input: 'Hi', voice }, { manifest: readManifest('voxa-tts') })).code, 'not_found')
  for (const path of [
    '../../etc/passwd.wav',
    '/etc/x.wav',
    'a/../b/c.wav',
    'https://evil.example/a/b.wav',
    'a/b/c.txt',
    'a/b\\..\\c.wav',
    'a//b.wav',
  ])
    assert.is((await refused({ input: 'Hi', voice: path }, { fetchVoice })).code, 'invalid', path)
  assert.is(asked.length, 2)
})

test('when every chunk takes too long the answer is a timeout, and the engine is told to stop', async () => {
  const error = await refused({ input: 'wait' }, { chunkMs: 20 })
  assert.is(error.code, 'timeout')
})

test('whole answers hold no more audio than there is room for, and give it back', async () => {
  // 100 samples of two bytes for each character: one text of ten fits, two do not.
  const synthesis = createSynthesis(options({ budgetBytes: 3000 }))
  const first = await synthesis.open({ input: 'hello, you' })
  assert.is((await speakWhole(first)).length > 0, true)
  const second = await synthesis.open({ input: 'hello, you' })
  const refused = await speakWhole(second).catch((thrown: AppError) => thrown)
  assert.equal([(refused as AppError).code, (refused as AppError).retryAfter], ['busy', 10])
  first.place.release()
  assert.is((await speakWhole(await synthesis.open({ input: 'hello, you' }))).length > 0, true)
})

test('a long text shares the engine with a short one that comes later', async () => {
  const synthesis = createSynthesis(options())
  const order: string[] = []
  const long = speakWhole(await synthesis.open({ input: paragraph.repeat(100) })).then(() => order.push('long'))
  const short = speakWhole(await synthesis.open({ input: 'Hi.' })).then(() => order.push('short'))
  await Promise.all([long, short])
  assert.equal(order, ['short', 'long'])
})

test('a stream gives its first audio before the chunk is whole', async () => {
  const controller = new AbortController()
  const speech = await createSynthesis(options()).open({ input: 'wait' }, controller.signal)
  const audio = speech.pcm(true)
  assert.is((await audio.next()).value!.length, 20)
  controller.abort()
  await audio.next().catch(() => {})
})

test('a passage in a language that the engine does not speak counts as not spoken and is named with its place', async () => {
  const french = 'La nuit tombait sur la ville, et les enfants rentraient chez eux pour le dîner avec leurs parents.'
  const { speech } = await say(`${paragraph.repeat(3)}\n\n${french}\n\n${paragraph}`)
  assert.equal(speech.unspoken, [`French, paragraph 2: ${french.slice(0, 60)}…`])
  assert.is(speech.spoken, speech.total - 1)
  const refused = await createSynthesis(options())
    .open({ input: french })
    .catch((thrown: AppError) => thrown)
  assert.match((refused as AppError).message, /does not speak French/)
})

test('words are told as they were written, whatever is spoken for them', async () => {
  const engine: SpeechEngine = {
    ...createEngine({}),
    capabilities: { ...createEngine({}).capabilities, wordTimes: 'estimated' },
    async *synthesize({ text, onWords }) {
      onWords?.(text.split(/\s+/).map((word, at) => ({ text: word, start: at, end: at + 1 })))
      yield new Float32Array(100)
    },
  }
  const speech = await createSynthesis(options({ engine })).open({
    input: 'It cost $5.50 in the 1990s.',
    timestamps: true,
  })
  await speakWhole(speech)
  assert.equal(
    speech.takeWords().map(({ text, start, end }) => [text, end - start]),
    [
      ...[
        ['It', 1],
        ['cost', 1],
      ],
      ...[
        ['$5.50', 5],
        ['in', 1],
      ],
      ...[
        ['the', 1],
        ['1990s.', 2],
      ],
    ],
  )
})

function options(more: Partial<SynthesisOptions> = {}): SynthesisOptions {
  return {
    manifest: readManifest('voxb-tts'),
    engine: createEngine({}),
    fetchVoice: () => Promise.reject(new Error('nobody may ask the hub')),
    ...more,
  }
}

async function say(text: string, more: Partial<SynthesisOptions> = {}, input: Partial<SpeechInput> = {}) {
  const speech = await createSynthesis(options(more)).open({ input: text, ...input })
  const pcm = Buffer.concat(await speakWhole(speech))
  return { speech, wav: Buffer.concat([wavHeader(speech.sampleRate, pcm.length), pcm]) }
}

async function refused(input: SpeechInput, more: Partial<SynthesisOptions> = {}): Promise<AppError> {
  try {
    await speakWhole(await createSynthesis(options(more)).open(input))
  } catch (thrown) {
    if (thrown instanceof AppError) return thrown
    throw thrown
  }
  throw new Error('nothing was refused')
}

/** An engine that notes what it speaks, and with which voices. */
function noting(spoken: string[], can: { readonly speakers?: number } = {}): SpeechEngine {
  const engine = createEngine({})
  const nameOf = (source: VoiceSource): string =>
    source.kind === 'several' ? source.voices.map(nameOf).join('+') : source.kind === 'preset' ? source.voice : ''
  return {
    ...engine,
    capabilities: { ...engine.capabilities, ...can },
    prepareVoice: async (source: VoiceSource) => ({ key: nameOf(source) }),
    synthesize(request, signal) {
      const { text, voice, speaker } = request
      spoken.push(`${voice.key}${speaker === undefined ? '' : `, ${speaker}`}: ${text}`)
      return engine.synthesize(request, signal)
    },
  }
}

/** An engine that notes which presets it is asked for. */
function recording(asked: string[]): SpeechEngine {
  const engine = createEngine({})
  return {
    ...engine,
    prepareVoice: async (source: VoiceSource) => {
      if (source.kind === 'preset') asked.push(source.voice)
      return { key: source.kind }
    },
  }
}

test.run()
