// Some with --all only: a killed process.
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import OpenAI from 'openai'
import * as assert from 'uvu/assert'
import { parseWav, writeWav } from '../../speech/audio/wav.ts'
import type { ServerId } from '../../speech/servers/manifest.ts'
import { closing } from '../helpers/disposal.ts'
import { pluck } from '../helpers/pluck.ts'
import { openSpeech, type SpeechServer } from '../helpers/speech/speech-server.ts'
import { isWholeRun, suite } from '../helpers/suite.ts'

const test = suite('the speech servers')

const open = new Map<ServerId, Promise<SpeechServer>>()
const server = (id: ServerId) => {
  const opened = open.get(id) ?? openSpeech(id, { queueLimit: 2 })
  open.set(id, opened)
  return opened
}
test.after(async () => {
  for (const opened of open.values()) await (await opened).close()
})

const a = 'voxa-tts'
const b = 'voxb-tts'
const c = 'voxb-tts-1.6b'
const speech = '/v1/audio/speech'

test.whole('every server lists its voices with language and licence', async () => {
  for (const [id, count, first, language] of [
    [a, 9, 'ryan', 'English'],
    [b, 8, 'alba', 'English'],
    [c, 11, 'alba', 'English'],
  ] as const) {
    const { voices } = await json((await server(id)).url, '/v1/voices')
    assert.is(voices.length, count)
    assert.is(voices[0].id, first)
    assert.is(voices[0].language, language)
    for (const voice of voices) assert.ok(voice.name && voice.licence && Array.isArray(voice.aliases))
  }
  const { voices } = await json((await server(a)).url, '/v1/voices')
  assert.equal(
    voices.map((voice: { name: string; language: string }) => `${voice.name} ${voice.language}`),
    'Ryan English,Aiden English,Vivian Chinese,Serena Chinese,Uncle_Fu Chinese,Dylan Chinese,Eric Chinese,Ono_Anna Japanese,Sohee Korean'.split(
      ',',
    ),
  )
})

test('health says who really speaks, and that no model is loaded', async () => {
  for (const [id, model] of [
    [a, 'customvoice-1.7b'],
    [b, 'voxb-tts'],
    [c, 'voxb-tts-1.6b'],
  ] as const) {
    const { reason, ...health } = await json((await server(id)).url, '/health')
    assert.equal(health, { status: 'healthy', model_loaded: false, engine: 'embedded', model, device: 'cpu' })
    assert.match(reason, /no neural model/)
  }
})

test('models are listed as OpenAI’s are', async () => {
  const { object, data } = await json((await server(a)).url, '/v1/models')
  assert.is(object, 'list')
  assert.equal(pluck(data, 'id'), ['voxa-tts', 'voxa-tts-customvoice', 'voxa-tts-voicedesign', 'voxa-tts-clone'])
})

test('speech is one WAV file with its length, and headers that say who spoke', async () => {
  for (const id of [a, b, c] as const) {
    const response = await (await server(id)).post(speech, {
      input: 'Hello there.',
      voice: 'Alloy',
      model: 'tts-1',
    })
    assert.equal([response.status, response.headers.get('content-type')], [200, 'audio/wav'])
    assert.is(response.headers.get('x-speech-engine'), 'embedded')
    assert.is(response.headers.get('x-speech-chunks'), '1/1')
    const bytes = Buffer.from(await response.arrayBuffer())
    assert.is(Number(response.headers.get('content-length')), bytes.length)
    assert.is(bytes.readUInt32LE(40), bytes.length - 44)
    const clip = parseWav(bytes)
    assert.is(clip.sampleRate, 24_000)
    assert.ok(clip.samples.length > 12_000 && clip.samples.some((sample) => Math.abs(sample) > 0.1))
  }
})

test('a stream is one header and audio as it is made; where there is no streaming it is one whole file', async () => {
  const input = 'Hello there. This is the second sentence. And this is the third one of them.'
  const streamed = await (await server(b)).post(speech, { input, stream: true })
  assert.is(streamed.headers.get('content-length'), null)
  const bytes = Buffer.from(await streamed.arrayBuffer())
  assert.is(bytes.readUInt32LE(40), 0xffff_ffff)
  assert.is(bytes.indexOf('RIFF', 4), -1)
  const whole = Buffer.from(await (await (await server(b)).post(speech, { input })).arrayBuffer())
  assert.equal(bytes.subarray(44), whole.subarray(44))
  for (const id of [a, c] as const) {
    const response = await (await server(id)).post(speech, { input: 'Hi.', stream: true })
    assert.ok(Number(response.headers.get('content-length')) > 44)
    await response.arrayBuffer()
  }
})

test('the trailer of a stream counts what was spoken', async () => {
  const { url } = await server(b)
  const response = await raw(url, speech, JSON.stringify({ input: 'Hello there.', stream: true }))
  for await (const _ of response);
  assert.is(response.trailers['x-speech-chunks'], '1/1')
})

test('words in another script count as not spoken, in every way of speaking, and are named in a header', async () => {
  const input = 'The word 你好 means hello. Привет too.'
  const whole = await (await server(b)).post(speech, { input })
  const streamed = await raw((await server(b)).url, speech, JSON.stringify({ input, stream: true }))
  const cloned = await (await server(b)).post('/v1/audio/voice-clone', form(input, await voiceClip(4)))
  for (const response of [whole, cloned]) {
    assert.equal([response.status, response.headers.get('x-speech-chunks')], [200, '1/3'])
    assert.equal(response.headers.get('x-speech-skipped')!.split(',').map(decodeURIComponent), ['你好', 'Привет'])
    await response.arrayBuffer()
  }
  for await (const _ of streamed);
  assert.is(streamed.trailers['x-speech-chunks'], '1/3')
  assert.is(streamed.headers['x-speech-skipped'], whole.headers.get('x-speech-skipped'))
  for (const [keep_directions, chunks, skipped] of [
    [false, '1/2', encodeURIComponent('(laughs)')],
    [true, '1/1', null],
  ] as const) {
    const response = await (await server(b)).post(speech, { input: '(laughs) Hello there.', keep_directions })
    const counted = [response.headers.get('x-speech-chunks'), response.headers.get('x-speech-skipped')]
    assert.equal(counted, [chunks, skipped])
    await response.arrayBuffer()
  }
  const plain = await (await server(b)).post(speech, { input: 'The café asks 5 € for ½ of it → at 10 °C.' })
  assert.equal([plain.headers.get('x-speech-chunks'), plain.headers.get('x-speech-skipped')], ['1/1', null])
  await plain.arrayBuffer()
})

const long = 'The north wind and the sun were disputing which was the stronger when a traveler came along. '
const refusals: readonly (readonly [
  name: string,
  id: ServerId,
  path: string,
  body: unknown,
  status: number,
  says: RegExp,
])[] = [
  ['10,001 characters', a, speech, { input: 'a'.repeat(10_001) }, 400, /10,000/],
  ['an empty text', a, speech, { input: '' }, 400, /empty/],
  ['a text that is empty without its emoji', b, speech, { input: '😀 (laughs)' }, 400, /empty/],
  ['9,990 unclosed parentheses', a, speech, { input: '('.repeat(9990) }, 400, /empty/],
  ['a missing text', a, speech, { voice: 'ryan' }, 400, /input/],
  ['a text that is none', a, speech, { input: 5 }, 400, /input/],
  ['a body that is no object', a, speech, [], 400, /./],
  ['an unknown voice', b, speech, { input: 'Hi', voice: 'nobody' }, 400, /alba, marius/],
  ['aac', b, speech, { input: 'Hi', response_format: 'aac' }, 400, /only wav, pcm, mp3, opus, flac/],
  ['word times in MP3', b, speech, { input: 'Hi', response_format: 'mp3', timestamps: true }, 400, /WAV alone/],
  ['Chinese without a model', a, speech, { input: '你好，世界。' }, 503, /Chinese/],
  ['Chinese that is called English', a, speech, { input: '你好，世界 AI', language: 'English' }, 503, /Chinese/],
  ['a script that no voice knows', a, speech, { input: 'გამარჯობა', language: 'en' }, 503, /Georgian/],
  ['a Polish sentence', b, speech, { input: 'Pan Smith mieszka w Londynie od dziesięciu lat.' }, 503, /Polish/],
  ['a language by name', a, speech, { input: 'Hello', language: 'Russian' }, 503, /Russian/],
  ['an unknown language', a, speech, { input: 'Hello', language: 'Klingon' }, 400, /Klingon/],
  ['a hub path with ..', b, speech, { input: 'Hi', voice: '../../etc/passwd.wav' }, 400, /hub/],
  ['a hub path on a server without them', a, speech, { input: 'Hi', voice: 'a/b/c.wav' }, 400, /Voice .* not found/],
  ['a hub that cannot be reached', c, speech, { input: 'Hi', voice: 'a/b/c.wav' }, 503, /hub/],
  [
    'a voice_url of another host',
    b,
    '/v1/audio/voice-clone-url',
    { input: 'Hi', voice_url: 'http://127.0.0.1/a/b.wav' },
    400,
    /hub/,
  ],
  ['a voice_url that is no path', b, '/v1/audio/voice-clone-url', { input: 'Hi', voice_url: 'alba' }, 400, /voice_url/],
  [
    'design without its variant',
    a,
    '/v1/audio/voice-design',
    { input: 'Hi', voice_description: 'a man' },
    503,
    /--model voicedesign-1.7b/,
  ],
  ['design without a description', a, '/v1/audio/voice-design', { input: 'Hi' }, 400, /voice_description/],
  ['design on a server without it', b, '/v1/audio/voice-design', { input: 'Hi', voice_description: 'a man' }, 404, /./],
  ['cloning without its variant', a, '/v1/audio/voice-clone', form('Hi', tone(4)), 503, /--model base-1.7b/],
  ['a clip of two seconds', a, '/v1/audio/voice-clone', form('Hi', tone(2)), 400, /3 seconds/],
  ['a text file as a clip', b, '/v1/audio/voice-clone', form('Hi', Buffer.from('no sound')), 400, /not a WAV/],
  [
    'a clip of silence',
    b,
    '/v1/audio/voice-clone',
    form('Hi', writeWav(new Float32Array(96_000), 24_000)),
    400,
    /No voice/,
  ],
  ['no clip', b, '/v1/audio/voice-clone', form('Hi', undefined), 400, /reference_audio/],
  ['an empty text with a clip', b, '/v1/audio/voice-clone', form('...', tone(4)), 400, /empty/],
  ['a clone as JSON', b, '/v1/audio/voice-clone', { input: 'Hi' }, 415, /multipart/],
  ['cloning on a server without it', c, '/v1/audio/voice-clone', form('Hi', tone(4)), 404, /./],
]
for (const [name, id, path, body, status, says] of refusals)
  test(`${name} is ${status}`, async () => {
    const response = await (await server(id)).post(path, body)
    const answer = (await response.json()) as { error: string; details: string[] }
    assert.is(response.status, status, JSON.stringify(answer))
    assert.is(typeof answer.error, 'string')
    assert.match([answer.error, ...answer.details].join(' '), says)
  })

test('a wrong method is 405 and says what is allowed', async () => {
  const response = await fetch(`${(await server(a)).url}${speech}`)
  assert.equal([response.status, response.headers.get('allow')], [405, 'POST'])
  await response.text()
})

test('an upload of 100 MB is refused before it is read, with or without its length said, and the server lives', async () => {
  const { url } = await server(b)
  const size = 100 * 1024 * 1024
  for (const headers of [{ 'content-length': String(size) }, { 'transfer-encoding': 'chunked' }]) {
    const request = httpRequest(`${url}/v1/audio/voice-clone`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'multipart/form-data; boundary=x' },
    })
    request.on('error', () => {})
    const answered = once(request, 'response') as Promise<[IncomingMessage]>
    let sent = 0
    const piece = Buffer.alloc(1024 * 1024)
    const push = () => {
      while (sent < size && !request.destroyed) {
        sent += piece.length
        if (!request.write(piece)) return void request.once('drain', push)
      }
    }
    push()
    const [response] = await answered
    assert.is(response.statusCode, 413)
    assert.ok(sent < size / 2, `${sent} bytes were taken`)
    request.destroy()
  }
  assert.is((await json(url, '/health')).status, 'healthy')
})

test.whole('the variant decides: voicedesign opens design, base opens cloning, on A', async () => {
  const variants = [
    ['voicedesign-1.7b', '/v1/audio/voice-design', { input: 'Hello there.', voice_description: 'a deep old man' }],
    ['base-0.6b', '/v1/audio/voice-clone', form('Hello there.', await voiceClip(4))],
  ] as const
  for (const [variant, path, body] of isWholeRun ? variants : variants.slice(0, 1)) {
    await using opened = closing(await openSpeech(a, { variant }))
    const response = await opened.post(path, body)
    assert.is(response.status, 200)
    assert.ok(parseWav(new Uint8Array(await response.arrayBuffer())).samples.length > 12_000)
    assert.is((await opened.post(speech, { input: 'Hello.' })).status, 200)
  }
})

test('a script of two voices is one file, on every server', async () => {
  for (const id of [a, b, c] as const) {
    const { voices } = await json((await server(id)).url, '/v1/voices')
    const speakers = [voices[0].id, voices[1].id]
    const answer = await (await server(id)).post(speech, { input: '[S1] Hello there. [S2] Good evening.', speakers })
    assert.equal([answer.status, answer.headers.get('x-speech-chunks')], [200, '2/2'])
    assert.ok(parseWav(Buffer.from(await answer.arrayBuffer())).samples.length > 24_000)
    assert.is((await (await server(id)).post(speech, { input: 'Hi.', speakers: speakers.slice(1) })).status, 400)
  }
})

test('B clones from an uploaded file, however it is called', async () => {
  const response = await (await server(b)).post('/v1/audio/voice-clone', form('Hello there.', await voiceClip(4)))
  assert.is(response.status, 200)
  assert.ok(parseWav(new Uint8Array(await response.arrayBuffer())).samples.length > 12_000)
})

test('OpenAI’s client library speaks', async () => {
  for (const id of [a, b, c] as const) {
    const client = new OpenAI({ apiKey: 'none', baseURL: `${(await server(id)).url}/v1`, maxRetries: 0 })
    const answer = await client.audio.speech.create({
      model: 'tts-1',
      voice: 'nova',
      input: 'Hello there.',
      response_format: 'wav',
    })
    assert.ok(parseWav(new Uint8Array(await answer.arrayBuffer())).samples.length > 12_000)
    const refused = await client.audio.speech
      .create({ model: 'tts-1', voice: 'nova', input: '' })
      .catch((thrown) => thrown.status)
    assert.is(refused, 400)
  }
})

test.whole(
  'killing the engine in the middle of a text costs one chunk, is told, and the next request works',
  async () => {
    await using opened = closing(await openSpeech(b))
    const { pid } = opened.service
    const response = await raw(opened.url, speech, JSON.stringify({ input: long.repeat(20), stream: true }))
    // The first audio is there and the chunk not yet at its end.
    let size = 0
    for await (const piece of response) {
      if (size === 0) process.kill(pid!, 'SIGKILL')
      size += (piece as Buffer).length
    }
    assert.is(response.trailers['x-speech-chunks'], '3/4')
    assert.ok(size > 3 * 24_000 * 2 * 10)
    assert.ok(opened.events.some((event) => event.includes('the speech engine ended') && event.includes('SIGKILL')))
    assert.ok(opened.events.some((event) => event.includes('a chunk was skipped')))
    const next = await opened.post(speech, { input: 'Hello.' })
    assert.is(next.headers.get('x-speech-chunks'), '1/1')
    assert.is(Buffer.from(await next.arrayBuffer()).readUInt32LE(24), 24_000)
    assert.is.not(opened.service.pid, pid)
  },
)

test('a client that leaves in the middle of a stream leaves the server free', async () => {
  const { url, post } = await server(b)
  const response = await raw(url, speech, JSON.stringify({ input: long.repeat(60), stream: true }))
  await once(response, 'data')
  response.destroy()
  assert.is((await post(speech, { input: 'Hello.' })).status, 200)
})

test('beyond the queue’s bound a request is 503 with Retry-After, and those inside are answered', async () => {
  const { post } = await server(b)
  const responses = await Promise.all(Array.from({ length: 6 }, () => post(speech, { input: long.repeat(2) })))
  const busy = responses.filter((response) => response.status === 503)
  assert.ok(busy.length > 0 && responses.some((response) => response.status === 200))
  for (const response of busy) assert.match(response.headers.get('retry-after')!, /^[1-9]\d*$/)
  await Promise.all(responses.map((response) => response.arrayBuffer()))
})

// biome-ignore lint/suspicious/noExplicitAny: tests read the answers as their clients do
async function json(url: string, path: string): Promise<any> {
  const response = await fetch(`${url}${path}`)
  assert.is(response.status, 200)
  return response.json()
}

async function raw(url: string, path: string, body: string): Promise<IncomingMessage> {
  const request = httpRequest(`${url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' } })
  request.end(body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return response
}

function form(input: string, clip: Uint8Array | undefined): FormData {
  const data = new FormData()
  data.set('input', input)
  if (clip) data.set('reference_audio', new Blob([new Uint8Array(clip)]), 'clip.bin')
  return data
}

function tone(seconds: number): Buffer {
  return writeWav(
    Float32Array.from({ length: 24_000 * seconds }, (_, index) => ((index % 200) / 200 - 0.5) / 2),
    24_000,
  )
}

let recorded: Promise<ReturnType<typeof parseWav>> | undefined

/** A recording of a voice: the server's own. */
async function voiceClip(seconds: number): Promise<Buffer> {
  recorded ??= record()
  const { samples, sampleRate } = await recorded
  return writeWav(samples.subarray(0, seconds * sampleRate), sampleRate)
}

async function record() {
  const response = await (await server(b)).post(speech, { input: long, voice: 'marius' })
  return parseWav(new Uint8Array(await response.arrayBuffer()))
}

test.run()
