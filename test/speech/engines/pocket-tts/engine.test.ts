// In a process of its own: it measures its memory.
// With --all only: a neural engine.
/** The engine from tokens to audio, on tiny random weights that are made here. */
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as assert from 'uvu/assert'
import { createEngineProcess } from '../../../../speech/engine-process.ts'
import type { SpeechEngine, VoiceHandle } from '../../../../speech/engines/engine.ts'
import { createEngine } from '../../../../speech/engines/pocket-tts/engine.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { suite } from '../../../helpers/suite.ts'
import { assertOtherSound, assertSameSound, joined } from './golden.ts'
import { makePocketModel, type PocketSize, tinySize } from './model.ts'

const test = suite('the pocket-tts engine')

/** The samples of a tiny model's frame. */
const frame = 24
const text = 'The fox jumps. It is quick.'
const cacheFolder = temporaryFolder()
/** Ends the speech early. */
const quick = { tokens_per_second_estimate: 12 }

type Spoken = { readonly engine: SpeechEngine; readonly folder: string; readonly voice: VoiceHandle }

const opened = new Map<string, Promise<Spoken>>()
test.after(async () => {
  for (const spoken of opened.values()) await (await spoken).engine.close()
})

async function open(change: Partial<PocketSize>, precision: 'int8' | 'float32'): Promise<Spoken> {
  const folder = join(temporaryFolder(), 'tiny')
  await makePocketModel(folder, { ...tinySize, ...change })
  const engine = createEngine({ folder, cacheFolder, precision })
  await engine.load()
  return { engine, folder, voice: await engine.prepareVoice({ kind: 'preset', voice: 'alba' }) }
}

/** Works with the engine on a model of that kind, which all tests share. */
async function withEngine(
  change: Partial<PocketSize>,
  work: (spoken: Spoken) => Promise<void>,
  // Whole numbers make a rounding more or less into a step that can be heard.
  precision: 'int8' | 'float32' = 'float32',
): Promise<void> {
  const key = `${JSON.stringify(change)} ${precision}`
  const spoken = opened.get(key) ?? open(change, precision)
  opened.set(key, spoken)
  await work(await spoken)
}

async function speak({ engine, voice }: Spoken, seed = 1, what = text): Promise<Float32Array[]> {
  const pieces: Float32Array[] = []
  for await (const piece of engine.synthesize({ text: what, voice, seed })) pieces.push(piece)
  return pieces
}

test('streams whole frames, the first one alone, and all samples are within range', () =>
  withEngine({}, async (spoken) => {
    const pieces = await speak(spoken)
    assert.equal(
      pieces.slice(0, 4).map((piece) => piece.length / frame),
      [1, 1, 2, 4],
    )
    const samples = joined(pieces)
    assert.is(samples.length % frame, 0)
    assert.ok(samples.every((sample) => sample >= -1 && sample <= 1))
    assert.ok(
      samples.some((sample) => Math.abs(sample) > 1e-4),
      'it is not silent',
    )
  }))

test('a seed repeats the noise, another one changes it', () =>
  withEngine({}, async (spoken) => {
    const [first, again, other] = [await speak(spoken, 7), await speak(spoken, 7), await speak(spoken, 8)]
    assertSameSound(joined(again), joined(first))
    assertOtherSound(joined(other), joined(first))
  }))

test('without a seed every request has its own noise', () =>
  withEngine({}, async ({ engine, voice }) => {
    const once = async () => {
      for await (const piece of engine.synthesize({ text, voice })) return piece
      return new Float32Array()
    }
    assertOtherSound(await once(), await once())
  }))

test('a text whose end comes at once has only its tail, per chunk', () =>
  withEngine({ endBias: 100 }, async (spoken) => {
    // At most four words: three frames and two more; else one and two.
    assert.is(joined(await speak(spoken, 1, 'one two')).length / frame, 5)
    assert.is(joined(await speak(spoken, 1, 'one two three four five.')).length / frame, 3)
    const sentence = 'ba be bi bo bu ba be bi bo bu ba be bi bo bu. '
    const long = await speak(spoken, 1, sentence.repeat(4))
    assert.is(joined(long).length % (3 * frame), 0)
    assert.ok(joined(long).length / frame >= 6, 'it has several chunks')
  }))

test('a text whose end is never found is cut at the limit that its length gives', () =>
  withEngine({}, async (spoken) => {
    const frames = joined(await speak(spoken, 1, 'ba')).length / frame
    // Pieces: a byte or a syllable, at most; (ids / 12 + 2) seconds of 12.5 frames.
    assert.ok(frames > 25 && frames <= 40, `${frames} frames`)
  }))

test('stops soon after it is cancelled, and speaks as before afterwards', () =>
  withEngine({}, async (spoken) => {
    const before = joined(await speak(spoken))
    const controller = new AbortController()
    const pieces: Float32Array[] = []
    try {
      for await (const piece of spoken.engine.synthesize({ text, voice: spoken.voice, seed: 1 }, controller.signal)) {
        pieces.push(piece)
        if (pieces.length === 2) controller.abort(new Error('enough'))
      }
      assert.unreachable()
    } catch (thrown) {
      assert.is((thrown as Error).message, 'enough')
    }
    assert.is(pieces.length, 2)
    for await (const _ of spoken.engine.synthesize({ text, voice: spoken.voice, seed: 2 })) break
    assertSameSound(joined(await speak(spoken)), before)
  }))

test('two requests at the same time do not disturb each other', () =>
  withEngine({}, async (spoken) => {
    const alone = [joined(await speak(spoken, 1)), joined(await speak(spoken, 2))]
    const together = await Promise.all([speak(spoken, 1), speak(spoken, 2)])
    for (const [i, pieces] of together.entries()) assertSameSound(joined(pieces), alone[i]!)
  }))

test('integer weights sound nearly as 32-bit ones do', async () => {
  const heard: Float32Array[] = []
  for (const precision of ['int8', 'float32'] as const)
    await withEngine(
      {},
      async (spoken) => void heard.push(joined(await speak(spoken)).subarray(0, frame * 2)),
      precision,
    )
  const [quantised, exact] = heard as [Float32Array, Float32Array]
  const power = (samples: Float32Array) => samples.reduce((sum, sample) => sum + sample * sample, 0)
  const error = quantised.map((sample, i) => sample - exact[i]!)
  assert.ok(power(error) > 0, 'the weights were quantised')
  assert.ok(power(error) < power(exact) * 0.05, `error ${power(error)} of ${power(exact)}`)
})

for (const change of [
  { name: 'the older generation', hasRowBeforeVoice: false },
  { name: '32-bit weights', dtype: 'F32' },
  {
    name: 'another geometry',
    width: 192,
    layers: 3,
    latent: 7,
    ratios: [5, 2, 3],
    blocks: 2,
    stride: 2,
    dtype: 'F16',
    configuration: { sample_rate: 750, sampling: quick, mimi: { seanet: { dilation_base: 3 } } },
  },
  {
    name: 'several flow steps',
    configuration: { sample_rate: 300, sampling: { ...quick, lsd_decode_steps: 4, noise_clamp: 0.5 } },
  },
  {
    name: 'the tanh form',
    configuration: { sample_rate: 300, sampling: quick, flow_lm: { ffn_activation: 'gelu (tanh)' } },
  },
] as const)
  test(`speaks with ${change.name}, and clones`, () =>
    withEngine(change, async (spoken) => {
      assert.ok(joined(await speak(spoken)).length > 0)
      const samples = Float32Array.from({ length: 3000 }, (_, i) => Math.sin(i / 3) / 2)
      const voice = await spoken.engine.prepareVoice({ kind: 'clone', samples, sampleRate: 3000 })
      const cloned = joined(await speak({ ...spoken, voice }))
      assert.ok(cloned.every(Number.isFinite))
      assertOtherSound(cloned, joined(await speak(spoken)))
    }))

test('the codec looks as far apart as the configuration says', async () => {
  const heard: Float32Array[] = []
  for (const dilation_base of [2, 3])
    await withEngine(
      { blocks: 2, configuration: { sample_rate: 300, sampling: quick, mimi: { seanet: { dilation_base } } } },
      async (spoken) => void heard.push(joined(await speak(spoken, 1, 'Go on.'))),
    )
  assertOtherSound(heard[1]!, heard[0]!)
})

test('memory stays flat over 50 requests', () =>
  withEngine({}, async (spoken) => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    let samples = 0
    /** The memory that 25 requests leave behind. */
    const afterRound = async () => {
      for (let request = 0; request < 25; request++) samples = joined(await speak(spoken, request, 'Go on.')).length
      // A runtime's tensor gives its memory back in a turn of the event loop after it was collected.
      for (let turn = 0; turn < 6; turn++) {
        collect()
        await new Promise((resolve) => setImmediate(resolve))
      }
      return process.memoryUsage()
    }
    const [, before, after] = [await afterRound(), await afterRound(), await afterRound()]
    // Half of their size if the sound of each were kept.
    const sound = (25 * samples * Float32Array.BYTES_PER_ELEMENT) / 2
    for (const [kind, limit] of Object.entries({ arrayBuffers: sound, heapUsed: 2e6, rss: 30e6 })) {
      const grown = after[kind as 'rss'] - before[kind as 'rss']
      assert.ok(grown < limit, `${kind} ${before[kind as 'rss']} → ${after[kind as 'rss']}`)
    }
  }))

test('another language is spoken by its own model, and one that is not installed is refused', async () => {
  const [english, german] = [join(temporaryFolder(), 'english'), join(temporaryFolder(), 'german')]
  await makePocketModel(english, { ...tinySize, configuration: { sample_rate: 300, language: 'English' } })
  await makePocketModel(german, { ...tinySize, configuration: { sample_rate: 300, language: 'German' } }, 2)
  const engine = createEngine({
    folder: english,
    cacheFolder,
    precision: 'float32',
    others: [{ language: 'German', folder: german }],
  })
  await engine.load()
  assert.equal(engine.capabilities.languages, ['English', 'German'])
  const voice = await engine.prepareVoice({ kind: 'preset', voice: 'Alba' })
  const spoken: Float32Array[] = []
  for (const language of ['English', 'German', 'English']) {
    for await (const piece of engine.synthesize({ text, voice, language, seed: 1 })) {
      spoken.push(piece)
      break
    }
  }
  assertSameSound(spoken[2]!, spoken[0]!)
  assertOtherSound(spoken[1]!, spoken[0]!)
  const refused = await engine
    .synthesize({ text, voice, language: 'Italian' })
    [Symbol.asyncIterator]()
    .next()
    .catch(String)
  assert.match(String(refused), /speaks English, not Italian/)
  await engine.close()
})

test('lives in a process of its own, as under a server, where a seed makes the same sound', () =>
  withEngine({}, async (here) => {
    const address = new URL(
      `../../../../speech/engines/pocket-tts/engine${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`,
      import.meta.url,
    )
    const options = { folder: here.folder, cacheFolder, precision: 'float32' }
    const engine = createEngineProcess({ module: address.href, options })
    await engine.load()
    assert.equal([engine.id, engine.sampleRate, engine.capabilities.languages], ['pocket-tts', 300, ['English']])
    const voice = await engine.prepareVoice({ kind: 'preset', voice: 'alba' })
    assertSameSound(joined(await speak({ ...here, engine, voice }, 5)), joined(await speak(here, 5)))
    await engine.close()
  }))

test('options that are wrong are named', () => {
  assert.throws(
    () => createEngine({ folder: '/models', precision: 'int4' }),
    (thrown: { details: string[] }) => thrown.details.length === 2,
  )
})

test.run()
