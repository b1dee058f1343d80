// Some with --all only: a whole sample.
import * as assert from 'uvu/assert'
import { resample } from '../../../../speech/audio/resample.ts'
import { joinSamples } from '../../../../speech/audio/sample-queue.ts'
import type { VoiceHandle, VoiceSource } from '../../../../speech/engines/engine.ts'
import { profileVoice, type VoiceProfile } from '../../../../speech/engines/flite/analysis.ts'
import { createEngine } from '../../../../speech/engines/flite/engine.ts'
import { spellPlainly } from '../../../../speech/engines/flite/spelling.ts'
import { readManifest, serverIds } from '../../../../speech/servers/manifest.ts'
import { isWholeRun, suite } from '../../../helpers/suite.ts'

const test = suite('voices of flite')
const engine = createEngine()
test.after(() => engine.close())

const sentence = 'The quick brown fox jumps over the lazy dog near the river bank.'
const profiles = new Map<string, VoiceProfile>()

for (const id of isWholeRun ? serverIds : (['voxb-tts'] as const))
  test(`any two presets of ${id} differ in pitch, but for the two names of one voice`, async () => {
    // Of the whole list, or of every third voice.
    const voices = readManifest(id)
      .voices.map((voice) => voice.id)
      .filter((_, at) => isWholeRun || at % 3 === 0)
    for (const voice of voices) profiles.set(voice, profiles.get(voice) ?? (await profile({ kind: 'preset', voice })))
    const alike: string[] = []
    for (const [index, one] of voices.entries())
      for (const other of voices.slice(index + 1)) {
        // Listeners tell 2 % in pitch apart with ease.
        if (distance(profiles.get(one)!, profiles.get(other)!) < 0.03) alike.push(`${one}, ${other}`)
      }
    assert.equal(alike, id === 'voxb-tts-1.6b' ? ['alba, alba-casual'] : [])
  })

test('the same text is the same audio, to the sample, after any other text', async () => {
  const voice = await engine.prepareVoice({ kind: 'preset', voice: 'ryan' })
  const first = await speak(voice, sentence)
  await speak(await engine.prepareVoice({ kind: 'preset', voice: 'alba' }), 'One, 2, $3.50; and a word that is $%&.')
  assert.equal(await speak(voice, sentence), first)
})

test.whole('a long sentence without a mark is spoken whole, and one of clauses too', async () => {
  const voice = await engine.prepareVoice({ kind: 'preset', voice: 'ryan' })
  const seconds = async (text: string) => (await speak(voice, text)).length / engine.sampleRate
  const once = await seconds('one and two and three and four and five and')
  assert.ok(Math.abs((await seconds('one and two and three and four and five and '.repeat(10))) / once - 10) < 1.5)
  const clauses =
    'When the rain had stopped at last, they went out into the garden; everything was green, and nobody said a word.'
  assert.ok(Math.abs((await seconds(clauses)) / (await seconds(clauses.replace(/[,;]/g, ''))) - 1) < 0.25)
})

test.whole('a design follows the words of its description', async () => {
  const of = (description: string) => profile({ kind: 'design', description })
  const [man, woman, deep, slow, plain] = await Promise.all([
    of('a man'),
    of('a young woman'),
    of('a deep-voiced old man'),
    of('a man who speaks very slowly'),
    of('xyzzy'),
  ])
  assert.ok(woman!.pitch! > 1.4 * man!.pitch!)
  assert.ok(deep!.pitch! < 0.95 * man!.pitch!)
  assert.ok(slow!.speechSeconds > 1.1 * man!.speechSeconds)
  assert.ok(plain!.pitch! > 0)
})

test('an instruction bends a preset', async () => {
  const voice = await engine.prepareVoice({ kind: 'preset', voice: 'ryan' })
  const usual = await speak(voice, sentence)
  assert.ok((await speak(voice, sentence, 'slowly and sadly')).length > 1.15 * usual.length)
  assert.equal(await speak(voice, sentence, 'like a xyzzy'), usual)
})

test.whole('a clone is matched to the clip: pitch within 8 %, and nearer to it than to another voice', async () => {
  for (const [model, other] of [
    ['ono_anna', 'uncle_fu'],
    ['uncle_fu', 'ono_anna'],
    ['dylan', 'ono_anna'],
  ] as const) {
    const samples = await speak(await engine.prepareVoice({ kind: 'preset', voice: model }), sentence)
    const clone = await profile({ kind: 'clone', samples, sampleRate: 24_000 })
    const [wanted, unlike] = [
      await profile({ kind: 'preset', voice: model }),
      await profile({ kind: 'preset', voice: other }),
    ]
    assert.ok(distance(clone, wanted) < 0.08, `${model}: ${clone.pitch} for ${wanted.pitch}`)
    assert.ok(distance(clone, wanted) < distance(clone, unlike), model)
  }
})

test.whole('a clip of a telephone’s bandwidth makes the voice of one of full bandwidth', async () => {
  const samples = await speak(await engine.prepareVoice({ kind: 'preset', voice: 'marius' }), sentence)
  const wide = await profile({ kind: 'clone', samples, sampleRate: 24_000 })
  const narrow = await profile({ kind: 'clone', samples: resample(samples, 24_000, 8000), sampleRate: 8000 })
  assert.ok(distance(wide, narrow) < 0.03)
  assert.ok(Math.abs(Math.log(narrow.speechSeconds / wide.speechSeconds)) < 0.15)
})

test('a clip without a voice is refused', async () => {
  const noise = Float32Array.from({ length: 48_000 }, (_, index) => Math.sin(index * index) / 3)
  const offset = new Float32Array(48_000).fill(0.9)
  for (const samples of [new Float32Array(48_000), noise, offset, new Float32Array(1)])
    assert.is(await codeOf(engine.prepareVoice({ kind: 'clone', samples, sampleRate: 16_000 })), 'invalid')
})

test('a hub voice that is no recording needs the neural model, and says so', async () => {
  assert.is(await codeOf(engine.prepareVoice({ kind: 'file', path: '/tmp/x.safetensors' })), 'unavailable')
})

test('signs and accents are spelled for a reader of ASCII, other scripts are left out', () => {
  for (const [written, spelled] of [
    ['It’s 5 ° — café', "It's 5 degrees, cafe"],
    ['€ & 10%', 'euros and 10 percent'],
    ['“naïve” snake_case', '"naive" snake case'],
    ['½ of ﬁve', 'one half of five'],
    ['田中', ''],
  ])
    assert.is(spellPlainly(written!), spelled)
})

test('the pitch of a known sound is measured', () => {
  const tone = (hertz: number) =>
    Float32Array.from({ length: 24_000 }, (_, index) => {
      const phase = (hertz * index) / 24_000
      return 0.4 * (2 * (phase - Math.floor(phase)) - 1)
    })
  for (const hertz of [80, 120, 200, 330])
    assert.ok(Math.abs(profileVoice(tone(hertz), 24_000).pitch! / hertz - 1) < 0.02, String(hertz))
})

async function speak(voice: VoiceHandle, text: string, instruct?: string): Promise<Float32Array> {
  const pieces: Float32Array[] = []
  for await (const piece of engine.synthesize({ text, voice, ...(instruct ? { instruct } : {}) })) pieces.push(piece)
  return joinSamples(pieces)
}

async function profile(source: VoiceSource): Promise<VoiceProfile> {
  return profileVoice(await speak(await engine.prepareVoice(source), sentence), engine.sampleRate)
}

function distance(one: VoiceProfile, other: VoiceProfile): number {
  return Math.abs(Math.log(one.pitch! / other.pitch!))
}

function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    (thrown: { code?: string }) => thrown.code,
  )
}

test.run()
