// Some with --all only: a whole sample.
import * as assert from 'uvu/assert'
import { joinSamples } from '../../../speech/audio/sample-queue.ts'
import { changeSpeed } from '../../../speech/audio/speed.ts'
import { parseWav } from '../../../speech/audio/wav.ts'
import { openSpeech } from '../../helpers/speech/speech-server.ts'
import { isWholeRun, suite } from '../../helpers/suite.ts'

const test = suite('speech at another speed')

const rate = 24_000
/** A voice-like tone: eight harmonics of 140 Hz. */
const tone = Float32Array.from({ length: 2 * rate }, (_, at) =>
  [1, 2, 3, 4, 5, 6, 7, 8].reduce((sum, of) => sum + Math.sin((2 * Math.PI * 140 * of * at) / rate + of) / of / 8, 0),
)

for (const speed of isWholeRun ? [0.25, 0.5, 0.8, 1.25, 2, 4] : [0.5, 2])
  test(`a tone at ${speed} lasts as long as it must, at its pitch, in whatever pieces it comes`, async () => {
    const whole = await atSpeed(tone, tone.length, speed)
    assert.is(whole.length, Math.round(tone.length / speed))
    near(pitchOf(whole, rate), pitchOf(tone, rate), 0.02)
    assert.equal(await atSpeed(tone, 1001, speed), whole)
    assert.ok(whole.every((value) => Math.abs(value) < 1))
  })

test('texts of some samples have their share of samples', async () => {
  for (const size of [0, 2, 100, 5000])
    assert.is((await atSpeed(tone.subarray(0, size), 64, 2)).length, size / 2, `${size}`)
})

test.whole('the built-in voice speaks at the speed of the request, whole and streamed, at its pitch', async () => {
  await using server = await openSpeech('voxb-tts')
  const say = async (body: object) => {
    const input = 'We know a lot more now, and all of us are well. Nobody was away.'
    const answer = await server.post('/v1/audio/speech', { input, ...body })
    assert.is(answer.status, 200)
    return parseWav(new Uint8Array(await answer.arrayBuffer()))
  }
  const usual = await say({})
  for (const speed of isWholeRun ? [0.5, 1.5, 3] : [1.5]) {
    const { samples, sampleRate } = await say({ speed })
    near(samples.length, usual.samples.length / speed, 0.02)
    near(pitchOf(samples, sampleRate), pitchOf(usual.samples, sampleRate), 0.02)
    assert.is((await say({ speed, stream: true })).samples.length, samples.length)
  }
  for (const speed of [0.1, 5, 'fast'])
    assert.is((await server.post('/v1/audio/speech', { input: 'Hi.', speed })).status, 400)
  const seconds = usual.samples.length / usual.sampleRate
  const events = await (
    await server.post('/v1/audio/speech', { input: 'One two. Three.', speed: 2, timestamps: true })
  ).text()
  const ends = [...events.matchAll(/"end":([\d.]+)/g)].map(([, end]) => Number(end))
  assert.ok(ends.length === 3 && ends.at(-1)! < seconds / 2)
})

async function atSpeed(samples: Float32Array, pieceSize: number, speed: number): Promise<Float32Array> {
  async function* pieces() {
    for (let at = 0; at < samples.length; at += pieceSize) yield samples.subarray(at, at + pieceSize)
  }
  const made: Float32Array[] = []
  for await (const piece of changeSpeed(pieces(), rate, speed)) made.push(piece)
  return joinSamples(made)
}

/** The median pitch of the voiced places in Hz, each by its autocorrelation, the peak between two samples by a parabola. */
function pitchOf(samples: Float32Array, sampleRate: number): number {
  const size = Math.round(0.03 * sampleRate)
  const found: number[] = []
  for (let at = 0; at + 2 * size < samples.length; at += size) {
    const likeness = (lag: number) => {
      let [product, one, other] = [0, 1e-9, 1e-9]
      for (let index = at; index < at + size; index++) {
        product += samples[index]! * samples[index + lag]!
        one += samples[index]! ** 2
        other += samples[index + lag]! ** 2
      }
      return one / size < 1e-4 ? 0 : product / Math.sqrt(one * other)
    }
    const lags = Array.from({ length: Math.round(sampleRate / 70) }, (_, lag) => lag).slice(
      Math.round(sampleRate / 300),
    )
    const all = lags.map(likeness)
    const most = Math.max(...all)
    const best = all.findIndex((value, index) => value > 0.97 * most && value >= (all[index + 1] ?? 0))
    if (most < 0.9 || best < 1) continue
    const [left, top, right] = [all[best - 1]!, all[best]!, all[best + 1] ?? 0]
    found.push(sampleRate / (lags[best]! + (left - right) / (2 * (left - 2 * top + right))))
  }
  return found.sort((one, other) => one - other)[Math.floor(found.length / 2)]!
}

function near(value: number, expected: number, share: number): void {
  assert.ok(Math.abs(value - expected) <= share * expected, `${value} is not near ${expected}`)
}

test.run()
