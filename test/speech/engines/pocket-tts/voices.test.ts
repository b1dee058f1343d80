// With --all only: a neural engine.
/** Voices of all published forms, from clips, and those that are refused. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { parseWav, writeWav } from '../../../../speech/audio/wav.ts'
import type { SpeechEngine, VoiceSource } from '../../../../speech/engines/engine.ts'
import { createEngine } from '../../../../speech/engines/pocket-tts/engine.ts'
import { type NewTensor, writeTensorFile } from '../../../../src/inference/tensor-writer.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { errorOf } from '../../../helpers/rejection.ts'
import { suite } from '../../../helpers/suite.ts'
import { assertOtherSound, assertSameSound, joined } from './golden.ts'
import { makePocketModel, type PocketSize, tinySize, voiceTensors } from './model.ts'

const test = suite('the voices of pocket-tts')
const cacheFolder = temporaryFolder()

async function withEngine(
  change: Partial<PocketSize>,
  work: (engine: SpeechEngine, folder: string) => Promise<void>,
): Promise<void> {
  const folder = join(temporaryFolder(), 'tiny')
  await makePocketModel(folder, { ...tinySize, ...change })
  const engine = createEngine({ folder, cacheFolder, precision: 'float32' })
  await engine.load()
  await work(engine, folder).finally(() => engine.close())
}

async function hear(engine: SpeechEngine, source: VoiceSource): Promise<Float32Array> {
  const voice = await engine.prepareVoice(source)
  const pieces: Float32Array[] = []
  for await (const piece of engine.synthesize({ text: 'A short text.', voice, seed: 3 })) pieces.push(piece)
  return joined(pieces)
}

const rate = 8000
const clip = Float32Array.from({ length: 4000 }, (_, i) => Math.sin(i / 5) / 2)

/** The same voice with an end marker instead of offsets, in a cache with room to spare that holds no numbers. */
function withEndMarker(tensors: readonly NewTensor[], room: number): NewTensor[] {
  return tensors.flatMap((tensor): NewTensor[] => {
    if (!tensor.name.endsWith('/cache')) return []
    const [, , rows = 0, heads = 0, size = 0] = tensor.shape
    const data = tensor.data() as Float32Array
    const roomy = new Float32Array(2 * room * heads * size).fill(Number.NaN)
    const half = rows * heads * size
    roomy.set(data.subarray(0, half))
    roomy.set(data.subarray(half), room * heads * size)
    const end = tensor.name.replace('/cache', '/current_end')
    return [
      { name: tensor.name, dtype: 'F32', shape: [2, 1, room, heads, size], data: () => roomy },
      { name: end, dtype: 'F32', shape: [rows], data: () => new Float32Array(rows) },
    ]
  })
}

test('a voice with offsets and the same voice with an end marker sound alike', () =>
  withEngine({}, async (engine, folder) => {
    const path = join(folder, 'marked.safetensors')
    await writeTensorFile(path, withEndMarker(voiceTensors(tinySize, 20, 1), 33))
    assertSameSound(await hear(engine, { kind: 'file', path }), await hear(engine, { kind: 'preset', voice: 'alba' }))
  }))

for (const hasRowBeforeVoice of [true, false])
  test(`a clip and the WAV file of it sound alike, ${hasRowBeforeVoice ? 'newer' : 'older'} generation`, () =>
    withEngine({ hasRowBeforeVoice }, async (engine, folder) => {
      const [path, bytes] = [join(folder, 'clip.wav'), writeWav(clip, rate)]
      await writeFile(path, bytes)
      const cloned = await hear(engine, { kind: 'clone', ...parseWav(bytes) })
      assertSameSound(await hear(engine, { kind: 'file', path }), cloned)
      assertOtherSound(await hear(engine, { kind: 'preset', voice: 'alba' }), cloned)
    }))

test('conditioning rows of the first generation are filled in', () =>
  withEngine({}, async (engine, folder) => {
    const path = join(folder, 'prompt.safetensors')
    const data = Float32Array.from({ length: 9 * tinySize.width }, (_, i) => Math.cos(i))
    await writeTensorFile(path, [
      { name: 'audio_prompt', dtype: 'F32', shape: [1, 9, tinySize.width], data: () => data },
    ])
    assert.ok((await hear(engine, { kind: 'file', path })).length > 0)
  }))

test('a long clip counts for its first 30 seconds', () =>
  withEngine({}, async (engine) => {
    const samples = Float32Array.from({ length: 31 * 1000 }, (_, i) => Math.sin(i / 7))
    const whole = await hear(engine, { kind: 'clone', samples, sampleRate: 1000 })
    const cut = await hear(engine, { kind: 'clone', samples: samples.subarray(0, 30_000), sampleRate: 1000 })
    assertSameSound(cut, whole)
  }))

test('equal sources have equal keys, others have not', () =>
  withEngine({}, async (engine) => {
    const keyOf = async (source: VoiceSource) => (await engine.prepareVoice(source)).key
    const clone = (samples: Float32Array): VoiceSource => ({ kind: 'clone', samples, sampleRate: rate })
    assert.is(await keyOf(clone(clip)), await keyOf(clone(clip.slice())))
    assert.is.not(await keyOf(clone(clip)), await keyOf(clone(clip.subarray(1))))
    assert.is(await keyOf({ kind: 'preset', voice: 'ALBA' }), await keyOf({ kind: 'preset', voice: 'alba' }))
  }))

for (const encoder of ['zeros', 'absent'] as const)
  test(`where the encoder's weights are ${encoder}, presets speak and cloning says what is missing`, () =>
    withEngine({ encoder }, async (engine) => {
      assert.ok((await hear(engine, { kind: 'preset', voice: 'alba' })).length > 0)
      const { code, details } = await errorOf(engine.prepareVoice({ kind: 'clone', samples: clip, sampleRate: rate }))
      assert.is(code, 'unavailable')
      assert.match(details.join('\n'), 'model.safetensors')
      assert.match(details.join('\n'), 'HF_TOKEN')
    }))

test('a voice that is not there is refused with the names that are, and no name leads out of the folder', () =>
  withEngine({}, async (engine) => {
    for (const voice of ['nobody', '../model', '..\\model', '', 'alba.safetensors', '/etc/passwd']) {
      const { code, details } = await errorOf(engine.prepareVoice({ kind: 'preset', voice }))
      assert.is(code, 'not_found')
      assert.match(details.join('\n'), 'alba')
    }
  }))

test('a clip that is empty, not finite or of no rate is refused', () =>
  withEngine({}, async (engine) => {
    const wrong: VoiceSource[] = [
      { kind: 'clone', samples: new Float32Array(), sampleRate: rate },
      { kind: 'clone', samples: new Float32Array(50).fill(Number.NaN), sampleRate: rate },
      { kind: 'clone', samples: clip, sampleRate: 0 },
      { kind: 'clone', samples: clip, sampleRate: 4e9 },
    ]
    for (const source of wrong) assert.is((await errorOf(engine.prepareVoice(source))).code, 'invalid')
    const design = await errorOf(engine.prepareVoice({ kind: 'design', description: 'warm' }))
    assert.is(design.code, 'unavailable')
  }))

const heads = tinySize.width / 64
const cache = (layer: number, shape: number[]): NewTensor => ({
  name: `transformer.layers.${layer}.self_attn/cache`,
  dtype: 'F32',
  shape,
  data: () => new Float32Array(shape.reduce((product, size) => product * size, 1)),
})
const offset = (layer: number, rows: number): NewTensor => ({
  name: `transformer.layers.${layer}.self_attn/offset`,
  dtype: 'I64',
  shape: [1],
  data: () => BigInt64Array.of(BigInt(rows)),
})
const fitting = [2, 1, 5, heads, 64]

for (const { name, tensors, says } of [
  {
    name: 'of a model with fewer layers',
    tensors: [cache(0, fitting), offset(0, 5)],
    says: 'layers.1.self_attn/cache is missing',
  },
  {
    name: 'of a model with more layers',
    tensors: [0, 1, 2].flatMap((layer) => [cache(layer, fitting), offset(layer, 5)]),
    says: "more than the model's 2 layers",
  },
  {
    name: 'of other heads',
    tensors: [0, 1].flatMap((layer) => [cache(layer, [2, 1, 5, 1, 64]), offset(layer, 5)]),
    says: 'expected [2, 1, rows, 2, 64]',
  },
  {
    name: 'longer than its cache',
    tensors: [0, 1].flatMap((layer) => [cache(layer, fitting), offset(layer, 6)]),
    says: '5 rows, and its length is given as 6',
  },
  {
    name: 'of negative length',
    tensors: [0, 1].flatMap((layer) => [cache(layer, fitting), offset(layer, -1)]),
    says: 'given as -1',
  },
  { name: 'without a length', tensors: [cache(0, fitting), cache(1, fitting)], says: 'neither offset nor current_end' },
  {
    name: 'whose layers differ in length',
    tensors: [cache(0, fitting), offset(0, 5), cache(1, fitting), offset(1, 4)],
    says: 'differ in length',
  },
  {
    name: 'of another width',
    tensors: [{ ...cache(0, [1, 3, 100]), name: 'audio_prompt' }],
    says: 'expected [1, rows, 128]',
  },
  { name: 'of hours', tensors: [{ ...cache(0, [1, 4097, tinySize.width]), name: 'audio_prompt' }], says: '4097 rows' },
  { name: 'that is none', tensors: [{ ...cache(0, [1, 512, 125]), name: 'speaker_wavs' }], says: 'is missing' },
])
  test(`a voice ${name} is refused, saying so`, () =>
    withEngine({}, async (engine, folder) => {
      await mkdir(join(folder, 'voices'))
      const path = join(folder, 'voices', 'wrong.safetensors')
      await writeTensorFile(path, tensors)
      const { code, message, details } = await errorOf(engine.prepareVoice({ kind: 'file', path }))
      assert.is(code, 'invalid')
      assert.match(message, 'wrong.safetensors')
      assert.match(details.join('\n'), says)
    }))

test('a voice with numbers that are not finite is refused', () =>
  withEngine({}, async (engine, folder) => {
    const path = join(folder, 'nan.safetensors')
    const spoilt = voiceTensors(tinySize, 5, 1).map((tensor) =>
      tensor.dtype === 'F32'
        ? { ...tensor, data: () => (tensor.data() as Float32Array).fill(Number.NaN, 3, 4) }
        : tensor,
    )
    await writeTensorFile(path, spoilt)
    assert.match((await errorOf(engine.prepareVoice({ kind: 'file', path }))).details.join('\n'), 'not finite')
  }))

test.run()
