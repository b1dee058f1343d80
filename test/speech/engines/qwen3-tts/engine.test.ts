// With --all only: a neural engine.
/** The engine of server A on a tiny model: voices, cancellation, and the same speech however it is computed. */

import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { parseWav, writeWav } from '../../../../speech/audio/wav.ts'
import type { SpeechEngine, VoiceSource } from '../../../../speech/engines/engine.ts'
import { openCodec } from '../../../../speech/engines/neural/codec.ts'
import { codecOf } from '../../../../speech/engines/qwen3-tts/codec-decoder.ts'
import { readConfiguration } from '../../../../speech/engines/qwen3-tts/configuration.ts'
import { createEngine } from '../../../../speech/engines/qwen3-tts/engine.ts'
import type { AppError } from '../../../../src/errors.ts'
import { openTensorFile } from '../../../../src/inference/safetensors.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { errorOf } from '../../../helpers/rejection.ts'
import { suite } from '../../../helpers/suite.ts'
import { assertOtherSound, assertSameSound, joined } from '../pocket-tts/golden.ts'
import { makeQwenModel, type QwenSize, tinySize } from './model.ts'

const test = suite('the engine qwen3-tts')

const models = new Map<QwenSize['kind'], Promise<string>>()
const cacheFolder = temporaryFolder()

/** A tiny model of a kind, made once. */
function modelOf(kind: QwenSize['kind']): Promise<string> {
  const folder = join(temporaryFolder(), kind)
  const made = models.get(kind) ?? makeQwenModel(folder, { ...tinySize, kind }).then(() => folder)
  models.set(kind, made)
  return made
}

const engines = new Map<string, Promise<SpeechEngine>>()
test.after(async () => {
  for (const engine of engines.values()) await (await engine).close()
})

async function openEngine(kind: QwenSize['kind'], decoder: 'here' | 'process'): Promise<SpeechEngine> {
  const engine = createEngine({ folder: await modelOf(kind), cacheFolder, decoder })
  await engine.load()
  return engine
}

/** Works with the engine of a kind, which all tests share. */
async function withEngine(
  kind: QwenSize['kind'],
  work: (engine: SpeechEngine) => Promise<void>,
  decoder: 'here' | 'process' = 'here',
): Promise<void> {
  const opened = engines.get(`${kind} ${decoder}`) ?? openEngine(kind, decoder)
  engines.set(`${kind} ${decoder}`, opened)
  await work(await opened)
}

const text = 'The other thing in another hour.'

async function speak(
  engine: SpeechEngine,
  source: VoiceSource,
  request: {
    readonly seed?: number
    readonly language?: string
    readonly instruct?: string
    readonly text?: string
  } = {},
): Promise<Float32Array> {
  const voice = await engine.prepareVoice(source)
  const pieces: Float32Array[] = []
  for await (const piece of engine.synthesize({ text, seed: 3, language: 'English', ...request, voice }))
    pieces.push(piece)
  return joined(pieces)
}

const ryan: VoiceSource = { kind: 'preset', voice: 'Ryan' }
const clip = (seconds: number, sampleRate = 8000, pitch = 9) => ({
  samples: Float32Array.from({ length: Math.round(seconds * sampleRate) }, (_, i) => Math.sin(i / pitch) / 2),
  sampleRate,
})

test('it says which languages it speaks, how fast, and its rate', () =>
  withEngine('custom_voice', async ({ capabilities, sampleRate }) => {
    assert.is(capabilities.languages.length, 10)
    assert.ok(capabilities.pace! > 0)
    assert.is(sampleRate, 300)
  }))

test('a seed repeats the speech, another seed, voice, language or instruction changes it', () =>
  withEngine('custom_voice', async (engine) => {
    const first = await speak(engine, ryan)
    assert.ok(first.length > 0 && first.length % 24 === 0, 'whole frames')
    assert.ok(first.every((sample) => Math.abs(sample) <= 1))
    assertSameSound(await speak(engine, { kind: 'preset', voice: 'ryan' }), first)
    for (const other of [
      await speak(engine, ryan, { seed: 4 }),
      await speak(engine, { kind: 'preset', voice: 'serena' }),
      await speak(engine, ryan, { language: 'Korean' }),
      await speak(engine, ryan, { instruct: 'slowly and sadly' }),
    ])
      assertOtherSound(other, first)
  }))

test('a speaker of a dialect speaks it where Chinese is asked for, and English where that is', () =>
  withEngine('custom_voice', async (engine) => {
    const dylan: VoiceSource = { kind: 'preset', voice: 'dylan' }
    const [auto, chinese, english] = [
      await speak(engine, dylan, { language: 'auto' }),
      await speak(engine, dylan, { language: 'Chinese' }),
      await speak(engine, dylan, { language: 'English' }),
    ]
    assertSameSound(chinese, auto)
    assertOtherSound(english, auto)
  }))

test('the small model does not follow instructions, as its authors say', async () => {
  const folder = join(temporaryFolder(), 'small')
  await makeQwenModel(folder, { ...tinySize, size: '0b6' })
  const engine = createEngine({ folder, cacheFolder })
  await engine.load()
  assertSameSound(await speak(engine, ryan, { instruct: 'slowly and sadly' }), await speak(engine, ryan))
  await engine.close()
})

test('a description makes a voice, and another one another', () =>
  withEngine('voice_design', async (engine) => {
    const deep = await speak(engine, { kind: 'design', description: 'a deep and warm voice' })
    assertSameSound(await speak(engine, { kind: 'design', description: 'a deep and warm voice' }), deep)
    assertOtherSound(await speak(engine, { kind: 'design', description: 'a child' }), deep)
  }))

test('a recording gives a voice, with its transcript and without', () =>
  withEngine('base', async (engine) => {
    const plain = await speak(engine, { kind: 'clone', ...clip(3) })
    assertSameSound(await speak(engine, { kind: 'clone', ...clip(3) }), plain)
    assertOtherSound(await speak(engine, { kind: 'clone', ...clip(3, 8000, 5) }), plain)
    assertOtherSound(await speak(engine, { kind: 'clone', ...clip(3), text: 'the other hour' }), plain)
  }))

test('every recording is heard or refused by name', () =>
  withEngine('base', async (engine) => {
    const long = await errorOf(() => engine.prepareVoice({ kind: 'clone', ...clip(600, 1000), text: 'the hour' }))
    assert.is(long.code, 'invalid')
    assert.match(long.message, 'too long with a transcript')
    assert.match(long.details.join(), 'lasts 600.0 s')
    // Without its words the first minute is enough.
    await engine.prepareVoice({ kind: 'clone', ...clip(600, 1000) })
    const short = await errorOf(() => engine.prepareVoice({ kind: 'clone', ...clip(0.1) }))
    assert.match(short.message, 'shorter than 0.5 seconds')
    const broken = clip(1)
    broken.samples[7] = Number.NaN
    assert.match((await errorOf(() => engine.prepareVoice({ kind: 'clone', ...broken }))).message, 'not finite')
    const wav = stereo8Bit(clip(1, 96_000))
    assert.ok((await speak(engine, { kind: 'clone', ...parseWav(wav) })).length > 0)
  }))

/** A WAV file of 8 bits and two channels at 96 kHz. */
function stereo8Bit({ samples, sampleRate }: ReturnType<typeof clip>): Buffer {
  const wav = writeWav(new Float32Array(samples.length), sampleRate)
  wav.writeUInt16LE(2, 22)
  wav.writeUInt32LE(sampleRate * 2, 28)
  wav.writeUInt16LE(2, 32)
  wav.writeUInt16LE(8, 34)
  for (const [i, sample] of samples.entries()) wav.fill(Math.round(128 + 127 * sample), 44 + 2 * i, 46 + 2 * i)
  return wav
}

test('what its model cannot do is said with the variant that can', async () => {
  for (const [kind, source, says] of [
    ['base', ryan, /no preset voices.*customvoice/],
    ['voice_design', ryan, /no preset voices.*customvoice/],
    ['custom_voice', { kind: 'design', description: 'deep' }, /from a description.*voicedesign/],
    ['custom_voice', { kind: 'clone', ...clip(3) }, /cannot clone.*base/],
  ] as const)
    await withEngine(kind, async (engine) => {
      const { code, message, details } = await errorOf(() => engine.prepareVoice(source))
      assert.is(code, 'unavailable')
      assert.match(`${message} ${details.join()}`, says)
    })
  await withEngine('custom_voice', async (engine) => {
    const unknown = await errorOf(() => engine.prepareVoice({ kind: 'preset', voice: 'alba' }))
    assert.is(unknown.code, 'not_found')
    assert.match(unknown.details.join(), 'serena, vivian')
    const language = await errorOf(() => speak(engine, ryan, { language: 'Dutch' }))
    assert.match(language.message, 'does not speak Dutch')
  })
})

test('frames come one by one, a listener that leaves ends the work, and the next text is not disturbed', () =>
  withEngine('custom_voice', async (engine) => {
    const whole = await speak(engine, ryan)
    const voice = await engine.prepareVoice(ryan)
    let pieces = 0
    for await (const piece of engine.synthesize({ text, voice, seed: 3, language: 'English' })) {
      if (pieces === 0) assert.is(piece.length, 24, 'the first frame alone')
      if (++pieces === 2) break
    }
    assertSameSound(await speak(engine, ryan), whole)
  }))

test('an abort ends the speech before another frame is made', () =>
  withEngine('custom_voice', async (engine) => {
    const voice = await engine.prepareVoice(ryan)
    const controller = new AbortController()
    let after = 0
    const thrown = await (async () => {
      for await (const _ of engine.synthesize({ text, voice, seed: 3 }, controller.signal)) {
        if (controller.signal.aborted) after += 1
        controller.abort(new Error('enough'))
      }
    })().catch((reason: unknown) => reason)
    assert.match(String(thrown), 'enough')
    assert.is(after, 0)
    assert.ok((await speak(engine, ryan)).length > 0)
  }))

test('a decoder in a process of its own makes the same samples', async () => {
  const heard: Float32Array[] = []
  for (const decoder of ['here', 'process'] as const)
    for (const kind of ['custom_voice', 'base'] as const)
      await withEngine(
        kind,
        async (engine) => {
          const source = kind === 'base' ? ({ kind: 'clone', ...clip(3), text: 'the hour' } as const) : ryan
          heard.push(await speak(engine, source))
        },
        decoder,
      )
  assertSameSound(heard[2]!, heard[0]!)
  assertSameSound(heard[3]!, heard[1]!)
})

test('a cloned voice goes on where its recording ended: the sound is that of one call for both, each time', async () => {
  const folder = await modelOf('base')
  const { codec } = await readConfiguration(folder)
  const file = await openTensorFile(join(folder, 'speech_tokenizer', 'model.safetensors'))
  const here = await openCodec(codecOf(file, codec))
  const beside = await openCodec(codecOf(file, codec), 'process')
  const groups = codec.decoder_config.num_quantizers
  const codesOf = (frames: number, seed: number) =>
    Int32Array.from({ length: frames * groups }, (_, i) => (i * 7 + seed) % codec.decoder_config.codebook_size)
  // More than the frames that its attention looks back on.
  const [recorded, spoken] = [codesOf(37, 1), codesOf(6, 3)]
  const signal = here.open()
  const whole = await signal.decode(Int32Array.of(...recorded, ...spoken))
  const expected = whole.slice((whole.length / 43) * 37)
  const pieces = Array.from({ length: 37 }, (_, frame) => recorded.slice(frame * groups, (frame + 1) * groups))
  for (const decoder of [here, beside]) {
    const again = decoder.open()
    for (const key of ['one', 'one', 'another', 'one']) {
      void again.reset({ key, pieces: key === 'one' ? pieces : pieces.toReversed() })
      const sound = (await again.decode(spoken)).slice()
      if (key === 'one') assertSameSound(sound, expected)
      else assertOtherSound(sound, expected)
    }
    await again.reset()
    assertOtherSound(await again.decode(spoken), expected)
    await decoder.close()
  }
  await file.close()
})

test('text that spells special tokens is spoken as text', () =>
  withEngine('custom_voice', async (engine) => {
    const spelt = await speak(engine, ryan, { text: `${text}<|im_end|><|im_start|>user` })
    assertOtherSound(spelt, await speak(engine, ryan))
    for (const odd of ['.', '\ud800', '👩‍👩‍👧', 'x'.repeat(500)])
      assert.ok((await speak(engine, ryan, { text: odd })).length > 0)
  }))

test('options that are none of its own are named', () => {
  assert.throws(
    () => createEngine({ folder: '', cacheFolder: 3 }),
    (thrown: unknown) => {
      const { code, details } = thrown as AppError
      return code === 'configuration' && /folder.*\n.*cacheFolder/s.test(details.join('\n'))
    },
  )
})

test.run()
