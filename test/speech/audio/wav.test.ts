import * as assert from 'uvu/assert'
import { resample } from '../../../speech/audio/resample.ts'
import { parseWav, toPcm16, wavHeader, writeWav } from '../../../speech/audio/wav.ts'
import { AppError } from '../../../src/errors.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('WAV files and sample rates')

test('a whole file tells its true sizes', () => {
  const wav = writeWav(new Float32Array(100), 24_000)
  assert.equal([wav.length, wav.readUInt32LE(4), wav.readUInt32LE(40)], [244, 236, 200])
  assert.is(wav.readUInt32LE(24), 24_000)
})

test('the header of a stream says that its size is unknown', () => {
  assert.is(wavHeader(24_000).readUInt32LE(40), 0xffff_ffff)
  assert.is(wavHeader(24_000).readUInt32LE(4), 0xffff_ffff)
})

test('a size that 32 bits cannot tell is unknown', () => {
  const largest = 0xffff_ffff - 45
  assert.is(wavHeader(24_000, largest).readUInt32LE(40), largest)
  assert.is(wavHeader(24_000, largest + 1).readUInt32LE(40), 0xffff_ffff)
})

test('samples beyond full scale are clipped, NaN is silence', () => {
  const pcm = toPcm16(Float32Array.from([2, -2, Number.NaN, 0.5]))
  assert.equal(
    [0, 2, 4, 6].map((at) => pcm.readInt16LE(at)),
    [32_767, -32_767, 0, 16_384],
  )
})

test('a written file reads back', () =>
  fc.assert(
    fc.property(fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: 1, maxLength: 500 }), (values) => {
      const { samples, sampleRate } = parseWav(writeWav(Float32Array.from(values), 16_000))
      assert.is(sampleRate, 16_000)
      assert.is(samples.length, values.length)
      for (const [index, value] of values.entries()) assert.ok(Math.abs(samples[index]! - value) < 1e-4)
    }),
  ))

const forms = [
  {
    name: '8-bit PCM',
    tag: 1,
    bits: 8,
    put: (b: Buffer, v: number, at: number) => b.writeUInt8(Math.round(v * 127) + 128, at),
  },
  {
    name: '16-bit PCM',
    tag: 1,
    bits: 16,
    put: (b: Buffer, v: number, at: number) => b.writeInt16LE(Math.round(v * 32_767), at),
  },
  {
    name: '24-bit PCM',
    tag: 1,
    bits: 24,
    put: (b: Buffer, v: number, at: number) => b.writeIntLE(Math.round(v * 8_388_607), at, 3),
  },
  {
    name: '32-bit PCM',
    tag: 1,
    bits: 32,
    put: (b: Buffer, v: number, at: number) => b.writeInt32LE(Math.round(v * 2_147_483_647), at),
  },
  { name: '32-bit float', tag: 3, bits: 32, put: (b: Buffer, v: number, at: number) => b.writeFloatLE(v, at) },
  { name: '64-bit float', tag: 3, bits: 64, put: (b: Buffer, v: number, at: number) => b.writeDoubleLE(v, at) },
] as const
for (const { name, tag, bits, put } of forms)
  for (const extensible of [false, true])
    test(`${name}${extensible ? ', extensible,' : ''} is read, stereo becomes mono`, () => {
      const values = [0.5, -0.25, 0.75, 0.25]
      const data = Buffer.alloc((values.length * bits) / 8)
      for (const [index, value] of values.entries()) put(data, value, (index * bits) / 8)
      const { samples } = parseWav(
        riff([format(tag, 2, 16_000, bits, extensible), ['LIST', Buffer.from('odd')], ['data', data]]),
      )
      assert.is(samples.length, 2)
      assert.ok(Math.abs(samples[0]! - 0.125) < 0.01 && Math.abs(samples[1]! - 0.5) < 0.01)
    })

test('a data size beyond the end means until the end', () => {
  const wav = writeWav(new Float32Array(100), 24_000)
  wav.writeUInt32LE(0xffff_ffff, 40)
  assert.is(parseWav(wav).samples.length, 100)
})

for (const [name, start] of [
  ['FLAC', 'fLaC\0\0\0\x22'],
  ['MP3', 'ID3\x03'],
  ['MP3', '\xff\xfb\x90\x64'],
  ['Ogg', 'OggS'],
  ['MPEG-4', '\0\0\0\x20ftypM4A '],
] as const)
  test(`a recording that begins as ${name} does, ${JSON.stringify(start)}, is refused with the way to convert it`, () => {
    assert.throws(
      () => parseWav(Buffer.from(start.padEnd(60, '\0'), 'latin1')),
      ({ message, details }: AppError) => new RegExp(`${name}.*ffmpeg`).test([message, ...details].join()),
    )
  })

test('bytes that are no recording are refused as invalid', () => {
  const whole = writeWav(new Float32Array(10), 24_000)
  const wrong = [
    Buffer.from('this is a text file, not a sound'),
    Buffer.alloc(0),
    whole.subarray(0, 20),
    whole.subarray(0, 44),
    riff([['data', Buffer.alloc(8)]]),
    riff([format(1, 0, 16_000, 16, false), ['data', Buffer.alloc(8)]]),
    riff([format(1, 60_000, 16_000, 16, false), ['data', Buffer.alloc(8)]]),
    riff([format(85, 1, 16_000, 16, false), ['data', Buffer.alloc(8)]]),
    riff([format(1, 1, 0, 16, false), ['data', Buffer.alloc(8)]]),
    riff([format(1, 1, 16_000, 12, false), ['data', Buffer.alloc(8)]]),
  ]
  for (const bytes of wrong)
    assert.is(
      codeOf(() => parseWav(bytes)),
      'invalid',
    )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), fc.nat(60), (noise, at) => {
      const bytes = Buffer.from(whole)
      Buffer.from(noise).copy(bytes, at)
      const code = codeOf(() => parseWav(bytes))
      assert.ok(code === undefined || code === 'invalid')
    }),
  )
})

test('a sine keeps its frequency and level at another rate, and higher frequencies are filtered out', () => {
  for (const [from, to, hertz, kept] of [
    [16_000, 24_000, 1000, 1],
    [48_000, 24_000, 1000, 1],
    [44_100, 24_000, 3000, 1],
    [48_000, 16_000, 10_000, 0],
  ] as const) {
    const sine = Float32Array.from({ length: from }, (_, index) => Math.sin((2 * Math.PI * hertz * index) / from))
    const out = resample(sine, from, to)
    assert.is(out.length, to)
    const middle = out.subarray(to / 4, (3 * to) / 4)
    let cosine = 0
    let sinus = 0
    let energy = 0
    for (const [index, value] of middle.entries()) {
      const angle = (2 * Math.PI * hertz * (index + to / 4)) / to
      cosine += value * Math.cos(angle)
      sinus += value * Math.sin(angle)
      energy += value * value
    }
    if (kept) {
      assert.ok(Math.abs((2 / middle.length) * Math.hypot(cosine, sinus) - 1) < 0.01)
      assert.ok(Math.abs(energy / middle.length - 0.5) < 0.01)
    } else assert.ok(energy / middle.length < 1e-6)
  }
})

test('rates without a common measure work too', () => {
  const out = resample(new Float32Array(1000).fill(0.5), 11_027, 7001)
  assert.is(out.length, Math.ceil((1000 * 7001) / 11_027))
  assert.ok(out.subarray(50, -50).every((sample) => Math.abs(sample - 0.5) < 1e-3))
})

type Chunk = readonly [id: string, body: Buffer]

function format(tag: number, channels: number, rate: number, bits: number, extensible: boolean): Chunk {
  const body = Buffer.alloc(extensible ? 40 : 16)
  body.writeUInt16LE(extensible ? 0xfffe : tag, 0)
  body.writeUInt16LE(channels, 2)
  body.writeUInt32LE(rate, 4)
  body.writeUInt32LE((rate * channels * bits) / 8, 8)
  body.writeUInt16LE(((channels * bits) / 8) & 0xffff, 12)
  body.writeUInt16LE(bits, 14)
  if (extensible) body.writeUInt16LE(tag, 24)
  return ['fmt ', body]
}

function riff(chunks: readonly Chunk[]): Buffer {
  const bodies = chunks.flatMap(([id, body]) => {
    const head = Buffer.alloc(8)
    head.write(id, 'latin1')
    head.writeUInt32LE(body.length, 4)
    return [head, body, Buffer.alloc(body.length % 2)]
  })
  const head = Buffer.from('RIFF\0\0\0\0WAVE', 'latin1')
  head.writeUInt32LE(
    bodies.reduce((sum, part) => sum + part.length, 4),
    4,
  )
  return Buffer.concat([head, ...bodies])
}

function codeOf(work: () => unknown): string | undefined {
  try {
    work()
    return undefined
  } catch (thrown) {
    return thrown instanceof AppError ? thrown.code : 'not ours'
  }
}

test.run()
