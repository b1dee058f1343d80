// Some with --all only: many processes.
import { createServer } from 'node:http'
import OpenAI from 'openai'
import * as assert from 'uvu/assert'
import { parseWav, writeWav } from '../../speech/audio/wav.ts'
import { openInstallation } from '../helpers/program/installation.ts'
import { type Answer, json, openStandIn } from '../helpers/providers/fake-provider.ts'
import { isWholeRun, suite } from '../helpers/suite.ts'

const test = suite('speech through the main server')

/** A bundled speech plugin moved to another address; by default to one where nothing listens. */
const moved = (id: string, origin = 'http://127.0.0.1:9', more = {}) => ({
  id,
  name: id,
  type: 'tts',
  endpoint: `${origin}/v1/audio/speech`,
  auth: { header: '', key_env: '' },
  model_map: id === 'voxa-tts' ? ['voxa-tts', 'voxa-tts-clone'] : [id],
  capabilities: { tts: { config: { default_voice: id === 'voxa-tts' ? 'Ryan' : 'alba', supports_streaming: true } } },
  ...more,
})
const sound = writeWav(new Float32Array(100), 24_000)
const speaks: Answer = (_, response) => {
  response
    .writeHead(200, { 'content-type': 'audio/wav', 'x-speech-engine': 'far', 'x-speech-chunks': '1/1' })
    .end(sound)
}

test.whole('where nothing listens on this machine the speech is made in process, and OpenAI’s client hears it', () =>
  withServer(async ({ url }) => {
    const client = new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 })
    // Each has an engine of its own.
    for (const model of isWholeRun ? ['tts-1', 'voxa-tts', 'voxb-tts-1.6b', 'voxa-tts-clone'] : ['tts-1', 'voxa-tts']) {
      const answer = await client.audio.speech.create({ model, voice: 'alloy', input: 'Hello there.' })
      assert.is(answer.headers.get('x-speech-engine'), 'embedded')
      assert.is(answer.headers.get('x-speech-chunks'), '1/1')
      assert.ok(parseWav(new Uint8Array(await answer.arrayBuffer())).samples.length > 12_000)
    }
  }),
)

test('OpenAI’s client gets each format that it asks for, whole and as it is made', () =>
  withServer(async ({ url }) => {
    const client = new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 })
    for (const [response_format, type, start] of [
      ['mp3', 'audio/mpeg', 'ID3'],
      ['opus', 'audio/ogg', 'OggS'],
      ['flac', 'audio/flac', 'fLaC'],
      ['pcm', 'audio/pcm;rate=24000', ''],
    ] as const)
      for (const more of [{}, { stream_format: 'audio' as const }]) {
        const wish = { model: 'tts-1', voice: 'alloy', input: 'Hello there.', response_format, ...more }
        const answer = await client.audio.speech.create(wish)
        assert.is(answer.headers.get('content-type'), type)
        const bytes = Buffer.from(await answer.arrayBuffer())
        assert.is(bytes.toString('latin1', 0, start.length), start)
        assert.ok(bytes.length > 3000, `${response_format}: ${bytes.length}`)
        if (start) assert.ok(bytes.subarray(0, 300).includes('Hello there.'))
      }
  }))

test.whole('the model, then the active plugin, chooses the server', () =>
  withServer(async ({ url, install, activate }) => {
    const far = await openStandIn(speaks)
    await install(moved('voxa-tts', far.url))
    const asked = async (body: object) =>
      (await post(url, { input: 'Hello there.', ...body })).headers.get('x-speech-engine')
    assert.is(await asked({ model: 'voxa-tts' }), 'far')
    assert.is(await asked({ model: 'voxa-tts:voxa-tts-clone' }), 'far')
    assert.is(await asked({ model: 'voxb-tts' }), 'embedded')
    assert.is(await asked({ model: 'tts-1' }), 'embedded')
    await activate('voxa-tts')
    assert.is(await asked({ model: 'tts-1', voice: 'Vivian', language: 'English', instruct: 'calmly' }), 'far')
    const { model, voice, language, instruct, response_format } = JSON.parse(far.received.at(-1)!.body)
    assert.equal(
      [model, voice, language, instruct, response_format],
      ['voxa-tts', 'Vivian', 'English', 'calmly', 'wav'],
    )
    await far.close()
  }),
)

test.whole('a stream of the server is passed on as it comes', () =>
  withServer(async ({ url }) => {
    const response = await post(url, { input: 'Hello there. And again.', model: 'voxb-tts', stream: true })
    assert.is(response.headers.get('content-length'), null)
    assert.is(Buffer.from(await response.arrayBuffer()).readUInt32LE(40), 0xffff_ffff)
  }),
)

test.whole('refusals are in OpenAI’s shape, with the status of what went wrong', () =>
  withServer(async ({ url, install }) => {
    const far = await openStandIn((request, response) => {
      const { input } = JSON.parse(request.body) as { input: string }
      if (input === 'busy') json(response, 503, { error: 'Too many', details: ['wait'] })
      else response.writeHead(200, { 'content-type': 'text/html' }).end('<p>hello</p>')
    })
    await install(moved('voxa-tts', far.url))
    for (const [body, status, says] of [
      [{ input: '', model: 'voxb-tts' }, 400, /empty/],
      [{ model: 'voxb-tts' }, 400, /input/],
      [{ input: 'Hi', model: 'nothing-like-it' }, 400, /voxb-tts/],
      [{ input: 'Hi', model: 'voxb-tts', voice: 'nobody' }, 400, /alba, marius/],
      [{ input: 'Hi', model: 'voxb-tts', response_format: 'aac' }, 400, /mp3/],
      [{ input: '你好', model: 'voxb-tts' }, 503, /Chinese/],
      [{ input: 'busy', model: 'voxa-tts' }, 503, /Too many/],
      [{ input: 'web page', model: 'voxa-tts' }, 502, /no audio/],
    ] as const) {
      const response = await post(url, body)
      const answer = (await response.json()) as { error: { message: string; type: string } }
      assert.is(response.status, status, JSON.stringify(answer))
      assert.match(answer.error.message, says)
    }
    await far.close()
  }),
)

test('a plugin on another machine that cannot be reached is unavailable, and nobody stands in', () =>
  withServer(async ({ url, install, activate }) => {
    await install(moved('far-tts', 'http://127.0.0.1:9'))
    await activate('far-tts')
    assert.is((await post(url, { input: 'Hi', model: 'far-tts' })).status, 503)
  }))

test('a program that took the port of a speech server gets no text: the speech is made in process', () =>
  withServer(async ({ url, install }) => {
    const asked: string[] = []
    const foreign = createServer(({ method, url: path }, response) => {
      asked.push(`${method} ${path}`)
      json(response, 200, { status: 'ok' })
    }).listen(8200, '127.0.8.200')
    await install(moved('voxb-tts', 'http://127.0.8.200:8200'))
    const response = await post(url, { input: 'A secret.', model: 'voxb-tts' })
    assert.is(response.headers.get('x-speech-engine'), 'embedded')
    assert.equal(asked, ['GET /health'])
    foreign.close()
  }))

test.whole('the operations speak, design, clone, and list voices and health', () =>
  withServer(async ({ url }) => {
    const spoken = await post(
      url,
      { input: 'Hello there, my friend, how are you today?', voice: 'ryan' },
      '/api/speech',
    )
    const clip = Buffer.from(await spoken.arrayBuffer())
    assert.is(spoken.headers.get('content-type'), 'audio/wav')
    for (const [path, body] of [
      ['/api/speech/design', { input: 'Hello.', voice_description: 'a young woman' }],
      ['/api/speech/clone', { input: 'Hello.', reference_audio: clip.toString('base64') }],
    ] as const) {
      const response = await post(url, body, path)
      assert.is(response.status, 200)
      assert.ok(parseWav(new Uint8Array(await response.arrayBuffer())).samples.length > 5000)
    }
    const { voices } = (await (await fetch(`${url}/api/speech/voices`)).json()) as { voices: { server: string }[] }
    assert.is(voices.length, 28)
    const { servers } = (await (await fetch(`${url}/api/speech/health`)).json()) as {
      servers: { url: null; engine: string }[]
    }
    assert.equal(
      servers.map((server) => [server.url, server.engine]),
      [
        [null, 'embedded'],
        [null, 'embedded'],
        [null, 'embedded'],
      ],
    )
  }),
)

interface Server {
  readonly url: string
  install(document: object): Promise<unknown>
  activate(id: string): Promise<unknown>
}

async function withServer(work: (server: Server) => Promise<void>): Promise<void> {
  await using installation = openInstallation()
  const { plugins } = installation.app
  // Keeps these tests off the default ports of this machine.
  for (const id of ['voxa-tts', 'voxb-tts', 'voxb-tts-1.6b']) await plugins.install(moved(id), { replace: true })
  const url = await installation.serve()
  await work({
    url,
    install: (document) => plugins.install(document, { replace: true }),
    activate: (id) => plugins.activate(id),
  })
}

function post(url: string, body: object, path = '/v1/audio/speech'): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

test.run()
