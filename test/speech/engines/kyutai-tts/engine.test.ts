// With --all only: a neural engine.
/** The engine of server C on a tiny model: voices, guidance, word times, cancellation, and the same speech however it is computed. */
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { SingleVoice, SpeechEngine, VoiceSource, WordTime } from '../../../../speech/engines/engine.ts'
import { createEngine } from '../../../../speech/engines/kyutai-tts/engine.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { pluck } from '../../../helpers/pluck.ts'
import { errorOf } from '../../../helpers/rejection.ts'
import { suite } from '../../../helpers/suite.ts'
import { assertOtherSound, assertSameSound, joined } from '../pocket-tts/golden.ts'
import { makeKyutaiModel, makeVoice } from './model.ts'

const test = suite('the engine kyutai-tts')

const [folder, cacheFolder, voicesFolder] = [join(temporaryFolder(), 'tiny'), temporaryFolder(), temporaryFolder()]
const made = (async () => {
  await makeKyutaiModel(folder)
  await makeVoice(join(voicesFolder, 'alba.safetensors'))
  await makeVoice(join(voicesFolder, 'vctk/p225_023.wav.1e68beda@240.safetensors'), undefined, { seed: 6, frames: 3 })
})()

async function openEngine(options: Partial<Parameters<typeof createEngine>[0]> = {}): Promise<SpeechEngine> {
  await made
  const engine = createEngine({ folder, cacheFolder, voices: [voicesFolder], ...options })
  await engine.load()
  return engine
}

let shared: Promise<SpeechEngine> | undefined
test.after(async () => (await shared)?.close())

/** Works with the engine that all tests share, or with one of other options. */
async function withEngine(
  work: (engine: SpeechEngine) => Promise<void>,
  options?: Partial<Parameters<typeof createEngine>[0]>,
): Promise<void> {
  if (!options) {
    shared ??= openEngine()
    return work(await shared)
  }
  const engine = await openEngine(options)
  try {
    await work(engine)
  } finally {
    await engine.close()
  }
}

const text = 'The other thing: it is late, and (so) on.'
const preset = (voice: string): SingleVoice => ({ kind: 'preset', voice })
const vctk = preset('vctk-p225')

async function speak(
  engine: SpeechEngine,
  source: VoiceSource = preset('alba'),
  request: {
    readonly seed?: number
    readonly text?: string
    readonly cfg_coef?: number
    readonly speaker?: number
    readonly onWords?: (words: readonly WordTime[]) => void
  } = {},
): Promise<Float32Array> {
  const voice = await engine.prepareVoice(source)
  const pieces: Float32Array[] = []
  for await (const piece of engine.synthesize({ text, seed: 3, ...request, voice })) pieces.push(piece)
  return joined(pieces)
}

test('a seed repeats the speech, another seed, voice or guidance changes it', () =>
  withEngine(async (engine) => {
    assert.equal(engine.capabilities.languages, ['English', 'French'])
    assert.is(engine.capabilities.voiceSuffix, '.1e68beda@240.safetensors')
    const first = await speak(engine)
    assert.ok(first.length > 0 && first.length % 24 === 0, 'whole frames')
    assert.ok(first.every((sample) => Math.abs(sample) <= 1))
    assertSameSound(await speak(engine, preset('Alba')), first)
    assertSameSound(await speak(engine, preset('alba-casual')), first)
    assertSameSound(await speak(engine, undefined, { cfg_coef: 2 }), first)
    for (const other of [
      await speak(engine, undefined, { seed: 4 }),
      await speak(engine, preset('vctk-p225')),
      await speak(engine, undefined, { cfg_coef: 4 }),
    ])
      assertOtherSound(other, first)
    // Speaks with voices of other lengths and back: no earlier voice leaves a trace.
    assertSameSound(await speak(engine), first)
  }))

test('a script has a slot for each voice, and the second one speaks otherwise than the first', () =>
  withEngine(async (engine) => {
    const path = (name: string) => join(voicesFolder, `script/${name}.safetensors`)
    for (const [at, name] of ['one', 'other'].entries()) await makeVoice(path(name), undefined, { seed: 20 + at })
    const file = (name: string) => ({ kind: 'file', path: path(name) }) as const
    const both = { kind: 'several', voices: [file('one'), file('other')] } as const
    const alone = await speak(engine, file('one'))
    const first = await speak(engine, both)
    const second = await speak(engine, both, { speaker: 1 })
    for (const [one, other] of [
      [first, alone],
      [second, first],
      [second, await speak(engine, file('other'))],
      [await speak(engine, { ...both, voices: both.voices.toReversed() }), first],
    ] as const)
      assertOtherSound(one, other)
    // The slot of the second voice is free again.
    assertSameSound(await speak(engine, file('one')), alone)
    assertSameSound(await speak(engine, both), first)
    const unlike = await errorOf(() => engine.prepareVoice({ kind: 'several', voices: [file('one'), vctk] }))
    assert.match(`${unlike.message}: ${unlike.details}`, /equally long: one has 6 frames, another 3/)
    const many = await errorOf(() => engine.prepareVoice({ kind: 'several', voices: Array(6).fill(file('one')) }))
    assert.match(many.message, /at most 5 voices/)
  }))

test('one file may hold the voices of a script', () =>
  withEngine(async (engine) => {
    const path = join(temporaryFolder(), 'both.safetensors')
    await makeVoice(path, undefined, { voices: 2 })
    assertOtherSound(await speak(engine, { kind: 'file', path }, { speaker: 1 }), await speak(engine))
    await makeVoice(path, undefined, { voices: 6 })
    const refused = await errorOf(() => engine.prepareVoice({ kind: 'file', path }))
    assert.match(refused.details.join(), /shape \[6,16,6\], expected \[1, 16, frames\], or as many as 5 voices/)
  }))

test('the nearest guidance that the model was trained with is taken', () =>
  withEngine(async (engine) => {
    assertSameSound(
      await speak(engine, undefined, { cfg_coef: 1.7 }),
      await speak(engine, undefined, { cfg_coef: 1.5 }),
    )
    assertSameSound(await speak(engine, undefined, { cfg_coef: 10 }), await speak(engine, undefined, { cfg_coef: 4 }))
  }))

test('words are told as they were written, with their times, up to the end of the speech', () =>
  withEngine(async (engine) => {
    const words: WordTime[] = []
    const samples = await speak(engine, undefined, { onWords: (more) => void words.push(...more) })
    assert.equal(pluck(words, 'text'), text.split(' '))
    let before = 0
    for (const { start, end } of words) {
      assert.ok(start >= before && end > start, `${start} to ${end} behind ${before}`)
      before = end
    }
    assert.is(words[0]!.start, 0)
    const seconds = samples.length / engine.sampleRate
    assert.ok(before <= seconds && before > seconds - 0.5, `${before} of ${seconds} s`)
  }))

test('a word that the model reads in parts is one word', () =>
  withEngine(async (engine) => {
    const words: WordTime[] = []
    await speak(engine, undefined, { text: 'At 10:30 : one:two', onWords: (more) => void words.push(...more) })
    assert.equal(pluck(words, 'text'), ['At', '10:30', 'one:two'])
  }))

test('two texts at the same time, in two voices, do not disturb each other', () =>
  withEngine(async (engine) => {
    const alone = [await speak(engine), await speak(engine, preset('vctk-p225'))]
    const together = await Promise.all([speak(engine), speak(engine, preset('vctk-p225'))])
    for (const [index, heard] of together.entries()) assertSameSound(heard, alone[index]!)
  }))

test('fewer codebooks sound otherwise, and more than the model has are refused', async () => {
  const heard: Float32Array[] = []
  for (const codebooks of [undefined, 4, 2, 1])
    await withEngine(async (engine) => void heard.push(await speak(engine)), { codebooks })
  assertSameSound(heard[1]!, heard[0]!)
  assertOtherSound(heard[2]!, heard[0]!)
  assert.ok(heard[3]!.length > 0)
  const engine = createEngine({ folder, cacheFolder, codebooks: 5 })
  const { code, message } = await errorOf(() => engine.load())
  assert.is(code, 'configuration')
  assert.match(message, 'has 4 codebooks, not 5')
})

test('a text without words is silence, and odd ones are spoken', () =>
  withEngine(async (engine) => {
    for (const nothing of ['', ' : ', '()']) assert.is((await speak(engine, undefined, { text: nothing })).length, 0)
    for (const odd of ['.', '\ud800', '👩‍👩‍👧', 'x'.repeat(300), '<break time="0.5s"/> a', '<s> <pad> <unk>'])
      assert.ok((await speak(engine, undefined, { text: odd })).length > 0, odd)
  }))

test('voices that are not there or of another model are refused by name', () =>
  withEngine(async (engine) => {
    const happy = await errorOf(() => engine.prepareVoice(preset('expresso-happy')))
    assert.is(happy.code, 'not_found')
    assert.match(happy.details.join(), /ex03-ex01_happy.*--non-commercial/s)
    const unknown = await errorOf(() => engine.prepareVoice(preset('__proto__')))
    assert.match(unknown.details.join(), 'vctk-p225')
    const clone = { kind: 'clone', samples: new Float32Array(9000), sampleRate: 3000 } as const
    assert.is((await errorOf(() => engine.prepareVoice(clone))).code, 'unavailable')
    const path = join(temporaryFolder(), 'voice.safetensors')
    for (const [change, says] of [
      [{ metadata: { sig: 'd6ef30c7', epoch: '1000' } }, /made for the model d6ef30c7@1000/],
      [{ frames: 2000 }, /2000 frames, and 1500 are the most/],
    ] as const) {
      await makeVoice(path, undefined, change)
      const refused = await errorOf(() => engine.prepareVoice({ kind: 'file', path }))
      assert.match(`${refused.message} ${refused.details.join()}`, says)
    }
    await makeVoice(path, { voice: 17 } as never)
    const shaped = await errorOf(() => engine.prepareVoice({ kind: 'file', path }))
    assert.match(shaped.details.join(), /shape \[1,17,6\], expected \[1, 16, frames\]/)
  }))

test.run()
