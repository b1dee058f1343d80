import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { readManifest } from '../../speech/servers/manifest.ts'
import type { SpeechService } from '../../speech/service.ts'
import { createSpeechServer } from '../../src/server/speech.ts'
import { openInstallation } from '../helpers/program/installation.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('listeners of a speech server')
const pieceSize = 1024 * 1024

test('a listener that does not read costs little memory and is cut off', () =>
  withListener(200, async (socket, state) => {
    // An unread socket fills up; the operating system buffers some megabytes on both sides.
    await state.over
    assert.ok(state.made < 40, `${state.made} MB were made`)
    socket.destroy()
  }))

test('a listener that leaves ends the work at once', () =>
  withListener(60_000, async (socket, state) => {
    await once(socket, 'data')
    socket.destroy()
    await state.over
  }))

test('a slow listener is served on', () =>
  withListener(30_000, async (socket, state) => {
    let heard = 0
    for await (const piece of socket) {
      heard += (piece as Buffer).length
      if (heard > 30 * pieceSize) break
      await new Promise(setImmediate)
    }
    assert.ok(state.made >= 30)
    await state.over
  }))

interface State {
  made: number
  /** Resolves when the audio is no longer wanted. */
  over: Promise<void>
}

/** A server with endless speech, and a connection that has requested it. */
async function withListener(
  writeTimeoutMs: number,
  work: (socket: Socket, state: State) => Promise<void>,
): Promise<void> {
  let end = () => {}
  const over = new Promise<void>((resolve) => {
    end = resolve
  })
  const state: State = { made: 0, over }
  const installation = openInstallation()
  const handler = createSpeechServer({ app: installation.app, observe: () => {} }, endless(state, end), writeTimeoutMs)
  const http = createServer(handler).listen(0, '127.0.0.1')
  await once(http, 'listening')
  const socket = connect((http.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
  const body = JSON.stringify({ input: 'Hello.', stream: true })
  socket.write(
    `POST /v1/audio/speech HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  try {
    await work(socket, state)
  } finally {
    socket.destroy()
    http.closeAllConnections()
    http.close()
    await once(http, 'close')
    await installation.close()
  }
}

function endless(state: State, end: () => void): SpeechService {
  const manifest = readManifest('voxb-tts')
  return {
    manifest,
    variant: manifest.variants[0]!,
    pid: undefined,
    health: () => ({ status: 'healthy', model_loaded: true, engine: 'endless', model: 'x', device: 'cpu' }),
    load: async () => {},
    close: async () => {},
    speak: async () => ({
      place: { keep() {}, release() {} },
      engine: 'endless',
      sampleRate: 24_000,
      unspoken: [],
      total: 1,
      spoken: 0,
      wordTimes: undefined,
      takeWords: () => [],
      async *pcm() {
        try {
          for (;;) {
            state.made += 1
            yield Buffer.alloc(pieceSize)
          }
        } finally {
          end()
        }
      },
    }),
  }
}

test.run()
