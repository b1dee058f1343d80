// Some with --all only: many processes.
import * as assert from 'uvu/assert'
import type { SpeechEvent } from '../../speech/answer.ts'
import { parseWav } from '../../speech/audio/wav.ts'
import { closing } from '../helpers/disposal.ts'
import { openChanceServer } from '../helpers/speech/chance-server.ts'
import { openSpeech } from '../helpers/speech/speech-server.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('word times over HTTP')

test.whole('the events hold the words of the text, and the bytes of the answer without them', async () => {
  await using server = closing(await openSpeech('voxb-tts'))
  const input = 'Hello there, my friend. It costs $5 today.'
  for (const stream of [false, true]) {
    const answer = await server.post('/v1/audio/speech', { input, stream, timestamps: true })
    assert.is(answer.status, 200)
    assert.match(answer.headers.get('content-type')!, /^text\/event-stream/)
    assert.is(answer.headers.get('x-speech-engine'), 'embedded')
    const { wav, words, events } = eventsOf(await answer.text())
    const plain = Buffer.from(await (await server.post('/v1/audio/speech', { input })).arrayBuffer())
    assert.equal(wav.subarray(44), plain.subarray(44))
    assert.is(wav.readUInt32LE(40), 0xffff_ffff)
    assert.is(words.map(({ text }) => text).join(' '), input)
    const seconds = parseWav(plain).samples.length / 24_000
    for (const { start, end } of words) assert.ok(start >= 0 && end > start && end <= seconds + 0.001)
    assert.equal(events.at(-1), { type: 'speech.audio.done', spoken: 1, total: 1 })
  }
  const form = new FormData()
  form.set('input', 'Hello there.')
  form.set('timestamps', 'true')
  form.set('seed', 'x')
  form.set('reference_audio', new Blob(['RIFF']), 'clip.wav')
  const refused = await server.post('/v1/audio/voice-clone', form)
  assert.is(refused.status, 400)
  assert.match(await refused.text(), /seed/)
  assert.is((await server.post('/v1/audio/speech', { input, timestamps: 'yes' })).status, 400)
  assert.is((await server.post('/v1/audio/speech', { input, seed: -1 })).status, 400)
})

test('a guess is called one, and times go on behind the pause between two chunks', async () => {
  await using server = closing(await openChanceServer({ wordTimes: 'estimated' }))
  const input = 'The north wind came along. '.repeat(40).trim()
  const { words, events } = eventsOf(await (await post(server.url, { input, timestamps: true })).text())
  assert.ok(events.every((event) => event.type !== 'speech.audio.words' || event.estimated))
  assert.is(words.map(({ text }) => text).join(' '), input)
  const gaps = words.slice(1).map(({ start }, index) => Math.round(100 * (start - words[index]!.end)) / 100)
  assert.equal([...new Set(gaps)].toSorted(), [0, 0.35])
})

test('an engine that cannot tell them refuses, and names those that can', async () => {
  await using server = closing(await openChanceServer())
  const refused = await post(server.url, { input: 'Hello there.', timestamps: true })
  assert.is(refused.status, 503)
  const { error, details } = (await refused.json()) as { error: string; details: string[] }
  assert.match(error, /chance engine cannot tell/)
  assert.match(details.join(), /built-in voice/)
})

test('a failure in the middle is the last event', async () => {
  await using server = closing(
    await openChanceServer({
      wordTimes: 'measured',
      begin: () => {
        throw new Error('out of luck')
      },
    }),
  )
  const refused = await post(server.url, { input: 'Hello there.', timestamps: true })
  assert.is(refused.status, 500)
})

function post(url: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return fetch(`${url}/v1/audio/speech`, { method: 'POST', headers, body: JSON.stringify(body) })
}

function eventsOf(text: string) {
  const events = text
    .trimEnd()
    .split('\n\n')
    .map((event) => JSON.parse(event.replace(/^data: /, '')) as SpeechEvent)
  const audio = events.flatMap((event) =>
    event.type === 'speech.audio.delta' ? [Buffer.from(event.audio, 'base64')] : [],
  )
  const words = events.flatMap((event) => (event.type === 'speech.audio.words' ? event.words : []))
  return { events, words, wav: Buffer.concat(audio) }
}

test.run()
