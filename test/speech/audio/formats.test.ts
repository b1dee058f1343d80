// Some with --all only: a whole sample.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { Recording } from '../../../speech/audio/encoding.ts'
import { audioFormat, type FormatName, formatNames, formatOfEnding } from '../../../speech/audio/formats.ts'
import { tagsOf } from '../../../speech/audio/tags.ts'
import { parseWav, toPcm16 } from '../../../speech/audio/wav.ts'
import { haveProgram } from '../../helpers/debian.ts'
import { isWholeRun, suite } from '../../helpers/suite.ts'

const test = suite('the formats of spoken files')

const rate = 24_000
const folder = mkdtempSync(join(tmpdir(), 'formats-'))
test.after(() => rmSync(folder, { recursive: true }))
const hasPlayers = haveProgram('ffprobe', ['ffmpeg']) && haveProgram('sox', ['sox', 'libsox-fmt-all'])
/** Debian's sox reads no Opus, and MP3 with a package of its own, which may be missing beside an older sox. */
const soxFormats: ReadonlySet<string> = new Set(
  hasPlayers
    ? (/FILE FORMATS: (.*)/.exec(execFileSync('sox', ['--help'], { encoding: 'utf8' }))?.[1] ?? '').split(' ')
    : [],
)
const tags = tagsOf('Grüße aus Köln.\nZweite Zeile', 'alba', 'embedded')

/** A tone that swells and fades, behind and before 100 ms of silence, as speech has them. */
const tone = (seconds: number) =>
  toPcm16(
    Float32Array.from({ length: Math.round(seconds * rate) }, (_, at) => {
      const time = at / rate
      if (time < 0.1 || time > seconds - 0.1) return 0
      return 0.5 * Math.sin(2 * Math.PI * 220 * time) * Math.sin((Math.PI * (time - 0.1)) / (seconds - 0.2)) ** 2
    }),
  )

async function encoded(format: FormatName, pieces: readonly Buffer[], more: Partial<Recording> = {}): Promise<Buffer> {
  async function* samples() {
    yield* pieces
  }
  const encode = await audioFormat(format).load()
  const made: Buffer[] = []
  for await (const piece of encode(samples(), { sampleRate: rate, tags, ...more })) made.push(piece)
  return Buffer.concat(made)
}

/** Samples in pieces of unlike sizes. */
function divided(pcm: Buffer): readonly Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0, size = 2; at < pcm.length; at += size, size = 2 * ((size * 3 + 7) % 9001)) {
    pieces.push(pcm.subarray(at, at + Math.max(2, size)))
    size = Math.max(2, size)
  }
  return pieces
}

const written = (format: FormatName, bytes: Buffer) => {
  const path = join(folder, `speech-${Math.random()}.${format === 'opus' ? 'opus' : format}`)
  writeFileSync(path, bytes)
  return path
}
const probe = (path: string, entries: string) =>
  execFileSync('ffprobe', ['-v', 'error', '-show_entries', entries, '-of', 'json', path], { encoding: 'utf8' })
const decoded = (path: string) =>
  execFileSync('ffmpeg', ['-v', 'error', '-i', path, '-f', 's16le', '-ac', '1', '-ar', String(rate), '-'], {
    maxBuffer: 64 * 1024 * 1024,
  })

test('WAV and samples alone are as they were, whole and in pieces', async () => {
  const pcm = tone(1.3)
  assert.equal(await encoded('pcm', divided(pcm)), pcm)
  const wav = await encoded('wav', divided(pcm), { dataBytes: pcm.length })
  assert.is(parseWav(wav).samples.length, pcm.length / 2)
  assert.is((await encoded('wav', divided(pcm))).readUInt32LE(40), 0xffff_ffff)
})

test('an ending names a format, in any case, and others none', () => {
  assert.equal(['.mp3', '.OGG', 'opus', '.flac', '.wav', '.m4a', ''].map(formatOfEnding), [
    'mp3',
    'opus',
    'opus',
    'flac',
    'wav',
    undefined,
    undefined,
  ])
})

test('a title is the beginning of the text on one line', () => {
  assert.is(tags.title, 'Grüße aus Köln. Zweite Zeile')
  assert.is(tagsOf('word '.repeat(100), undefined, 'embedded').title, `${'word '.repeat(16).trim()}…`)
})

if (hasPlayers)
  for (const format of ['mp3', 'opus', 'flac'] as const)
    for (const seconds of isWholeRun ? [0.3, 2.345, 31.7] : [0.3])
      (format === 'opus' ? test : test.whole)(
        `${format} of ${seconds} s is read by ffprobe and by sox, with its tags and its length`,
        async () => {
          const pcm = tone(seconds)
          for (const dataBytes of [pcm.length, undefined]) {
            const path = written(format, await encoded(format, divided(pcm), { dataBytes }))
            const { format: facts, streams } = JSON.parse(probe(path, 'format=duration:format_tags:stream_tags'))
            const found = { ...facts.tags, ...streams[0].tags }
            assert.is(found.title ?? found.TITLE, tags.title)
            assert.is(found.artist ?? found.ARTIST, 'alba')
            const isUnknown = format === 'flac' && dataBytes === undefined
            const length = isUnknown ? decoded(path).length / 2 / rate : Number(facts.duration)
            assert.ok(Math.abs(length - seconds) < 0.05, `${length} s`)
            if (!isUnknown && soxFormats.has(format)) {
              const sox = Number(execFileSync('sox', ['--i', '-D', path], { encoding: 'utf8' }))
              assert.ok(Math.abs(sox - seconds) < 0.05, `sox: ${sox} s`)
            }
            const heard = decoded(path)
            assert.ok(heard.length >= 2 * rate * (seconds - 0.05), `${heard.length / 2 / rate} s`)
            if (format === 'flac') assert.equal(heard, pcm)
            else assert.ok(likeness(heard, pcm) > 0.98, String(likeness(heard, pcm)))
          }
        },
      )

/** The best correlation of two recordings, one of them up to 50 ms later. */
function likeness(one: Buffer, other: Buffer): number {
  const [a, b] = [one, other].map((bytes) => new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length >> 1))
  let best = 0
  for (let shift = -1200; shift <= 1200; shift += 3) {
    let [product, first, second] = [0, 0, 0]
    for (let at = 1200; at < Math.min(a!.length, b!.length, 8 * rate) - 1200; at += 31) {
      product += a![at]! * b![at + shift]!
      first += a![at]! ** 2
      second += b![at + shift]! ** 2
    }
    best = Math.max(best, product / Math.sqrt(first * second || 1))
  }
  return best
}

test.whole('FLAC of noise, of silence, of the extremes and of thousands of frames is lossless', async () => {
  if (!hasPlayers) return
  const noise = Buffer.from(Int16Array.from({ length: 9000 }, (_, at) => ((at * 7919 * at) % 65_536) - 32_768).buffer)
  const extremes = Buffer.from(Int16Array.from({ length: 5000 }, (_, at) => (at % 2 ? 32_767 : -32_768)).buffer)
  for (const pcm of [
    noise,
    extremes,
    Buffer.alloc(20_000),
    Buffer.from([1, 2]),
    tone(20).subarray(0, 2 * 4096 * 100),
  ]) {
    const path = written('flac', await encoded('flac', divided(pcm), { dataBytes: pcm.length }))
    assert.equal(decoded(path), pcm)
  }
  const many = Buffer.concat(Array(160).fill(tone(2.8)))
  const path = written('flac', await encoded('flac', [many]))
  assert.equal(decoded(path), many)
})

test('many files are made at the same time', async () => {
  const pcm = tone(0.5)
  const opened = Array.from({ length: isWholeRun ? 200 : 20 }, () => encoded('opus', divided(pcm)))
  const lengths = new Set((await Promise.all(opened)).map(({ length }) => length))
  assert.is(lengths.size, 1)
  if (!hasPlayers) return
  const one = decoded(written('opus', (await Promise.all(opened)).at(-1)!))
  assert.ok(likeness(one, pcm) > 0.98)
})

test('a loop over a file that ends early frees its encoder, and one over nothing is a file still', async () => {
  for (const format of formatNames) {
    const encode = await audioFormat(format).load()
    async function* endless() {
      for (;;) yield tone(0.3)
    }
    for await (const piece of encode(endless(), { sampleRate: rate, tags })) {
      assert.ok(piece.length > 0)
      break
    }
    if (format !== 'pcm') assert.ok((await encoded(format, [])).length > 0, format)
  }
})

test('Opus refuses a rate that it has not', async () => {
  try {
    await encoded('opus', [tone(0.1)], { sampleRate: 22_050 })
    assert.unreachable()
  } catch (thrown) {
    assert.match(String(thrown), /no sample rate of 22050 Hz/)
  }
})

test.run()
