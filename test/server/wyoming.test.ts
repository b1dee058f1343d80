import { once } from 'node:events'
import { connect } from 'node:net'
import * as assert from 'uvu/assert'
import { openWyoming } from '../../src/server/wyoming.ts'
import { closing } from '../helpers/disposal.ts'
import { openSpeech } from '../helpers/speech/speech-server.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('Wyoming, the protocol of Home Assistant')

const speech = openSpeech('voxb-tts')
const opened = speech.then(({ service }) => openWyoming(service, 0))
test.after(async () => {
  await (await opened).close()
  await (await speech).close()
})

interface Received {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
  readonly payload: Buffer
}

/** A client that sends bytes as they are, and takes events apart. */
async function client() {
  const socket = connect((await opened).port, '127.0.0.1')
  await once(socket, 'connect')
  let bytes = Buffer.alloc(0)
  socket.on('data', (piece: Buffer) => {
    bytes = Buffer.concat([bytes, piece])
  })
  socket.on('error', () => {})
  return closing({
    socket,
    send: (event: object, behind = '') => void socket.write(`${JSON.stringify(event)}\n${behind}`),
    /** The next events up to one of this type. */
    async until(type: string): Promise<readonly Received[]> {
      const events: Received[] = []
      for (;;) {
        const end = bytes.indexOf('\n')
        const head = end < 0 ? undefined : JSON.parse(bytes.toString('utf8', 0, end))
        const [data, payload] = [head?.data_length ?? 0, head?.payload_length ?? 0]
        if (!head || bytes.length < end + 1 + data + payload) {
          if (socket.readableEnded) throw new Error(`no ${type} in ${events.map((event) => event.type)}`)
          await Promise.race([once(socket, 'data'), once(socket, 'end')])
          continue
        }
        const at = end + 1
        const body = data > 0 ? JSON.parse(bytes.toString('utf8', at, at + data)) : head.data
        events.push({ type: head.type, data: body, payload: bytes.subarray(at + data, at + data + payload) })
        bytes = bytes.subarray(at + data + payload)
        if (head.type === type) return events
      }
    },
    async close() {
      socket.destroy()
    },
  })
}

const secondsOf = (events: readonly Received[]) =>
  events.reduce((sum, { payload }) => sum + payload.length, 0) / 2 / 24_000

test('describe names the server and its voices, and ping is answered', async () => {
  await using home = await client()
  home.send({ type: 'describe' })
  const [info] = await home.until('info')
  const [tts] = info!.data['tts'] as {
    name: string
    installed: boolean
    supports_synthesize_streaming: boolean
    voices: Received['data'][]
  }[]
  assert.equal([tts!.name, tts!.installed, tts!.supports_synthesize_streaming], ['voxb-tts', true, true])
  assert.equal([tts!.voices[0]!['name'], tts!.voices[0]!['languages']], ['alba', ['en']])
  home.send({ type: 'ping', data: { text: 'are you there' } })
  assert.is((await home.until('pong'))[0]!.data['text'], 'are you there')
})

test('a text is spoken between audio-start and audio-stop, its data in the header or behind it', async () => {
  await using home = await client()
  const data = JSON.stringify({ text: 'Hello there.', voice: { name: 'alba' } })
  home.send({ type: 'synthesize', data_length: data.length, version: '1.7.1' }, data)
  const events = await home.until('audio-stop')
  assert.equal(events[0]!.data, { rate: 24_000, width: 2, channels: 1 })
  assert.equal([events[0]!.type, events[1]!.type], ['audio-start', 'audio-chunk'])
  const seconds = secondsOf(events)
  assert.ok(seconds > 0.4 && seconds < 3, `${seconds} s`)
  home.send({ type: 'synthesize', data: { text: 'Hello there.' } })
  assert.is(secondsOf(await home.until('audio-stop')), seconds)
})

test('a text in chunks is spoken from its first sentence on; the whole text beside them is not repeated', async () => {
  await using home = await client()
  home.send({ type: 'synthesize-start', data: { voice: { name: 'alba' } } })
  home.send({ type: 'synthesize-chunk', data: { text: 'One is here. The ne' } })
  assert.ok(secondsOf(await home.until('audio-chunk')) > 0)
  home.send({ type: 'synthesize-chunk', data: { text: 'xt follows.' } })
  home.send({ type: 'synthesize', data: { text: 'One is here. The next follows.' } })
  home.send({ type: 'synthesize-stop' })
  const events = await home.until('synthesize-stopped')
  assert.is(events.filter(({ type }) => type === 'audio-stop').length, 1)
  assert.ok(secondsOf(events) > 0.4 && secondsOf(events) < 4)
})

test('what cannot be spoken is an error, and the connection goes on', async () => {
  await using home = await client()
  for (const [text, name, says] of [
    ['Hi.', 'nobody', /nobody/],
    [' ', 'alba', /empty/],
    ['你好，世界。', 'alba', /Chinese/],
  ] as const) {
    home.send({ type: 'synthesize', data: { text, voice: { name } } })
    assert.match(String((await home.until('error')).at(-1)!.data['text']), says)
  }
  home.send({ type: 'ping' })
  await home.until('pong')
})

test('half a frame waits, an invalid or oversized one ends its connection alone', async () => {
  await using half = await client()
  half.socket.write('{"type": "pi')
  await using torn = await client()
  torn.send({ type: 'synthesize', data_length: 500 }, '{"text": "Hel')
  torn.socket.destroy()
  for (const bytes of [
    'no JSON\n',
    '[]\n',
    '{"type": 5}\n',
    '{"type":"ping","data_length":-1}\n',
    '{"type":"ping","payload_length":99999999999}\n',
    '{"type":"ping","data_length":4}\n[1]}',
    '{"type":"synthesize","data":{"text":7}}\n',
    'x'.repeat(70_000),
  ]) {
    await using wrong = await client()
    wrong.socket.write(bytes)
    assert.match(String((await wrong.until('error')).at(-1)!.data['code']), /invalid|too_large/)
    if (!wrong.socket.readableEnded) await once(wrong.socket, 'end')
  }
  half.socket.write('ng"}\n')
  await half.until('pong')
})

test.run()
