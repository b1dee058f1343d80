import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as assert from 'uvu/assert'
import { writeWav } from '../../../speech/audio/wav.ts'
import type { ServerId } from '../../../speech/servers/manifest.ts'
import { openSpeechService, type ServiceOptions, type SpeechService } from '../../../speech/service.ts'
import { createSpeechServer } from '../../../src/server/speech.ts'
import { closing } from '../disposal.ts'
import { openInstallation } from '../program/installation.ts'

/** A speech server on loopback with its engine, in an installation of its own. */
export interface SpeechServer {
  readonly url: string
  readonly service: SpeechService
  /** The log events. */
  readonly events: readonly string[]
  post(path: string, body: unknown): Promise<Response>
  health(): Promise<Record<string, unknown>>
  /** Asks for a text in the voice of a recording: a sine of so many seconds. */
  clone(input: string, seconds: number): Promise<Response>
  close(): Promise<void>
}

/** Opens one. Where its model cannot be loaded, its health and its answers say so. */
export async function openSpeech(
  server: ServerId,
  options: Partial<ServiceOptions> = {},
): Promise<SpeechServer & AsyncDisposable> {
  const installation = openInstallation()
  const events: string[] = []
  const service = openSpeechService({
    server,
    modelsFolder: `${installation.home}/models`,
    // Nothing listens on the discard port: no hub.
    hubEndpoint: 'http://127.0.0.1:9',
    onEvent: (message, fields) => events.push(`${message} ${JSON.stringify(fields)}`),
    ...options,
  })
  await service.load().catch(() => undefined)
  const http = createHttpServer(createSpeechServer({ app: installation.app, observe: () => {} }, service))
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const post = (path: string, body: unknown) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      ...(body instanceof FormData
        ? { body }
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
  return closing({
    url,
    service,
    events,
    post,
    health: async () => (await (await fetch(`${url}/health`)).json()) as Record<string, unknown>,
    clone(input: string, seconds: number) {
      const samples = Float32Array.from({ length: 8000 * seconds }, (_, i) => Math.sin(i / 9) / 2)
      const form = new FormData()
      form.set('input', input)
      form.set('reference_audio', new Blob([new Uint8Array(writeWav(samples, 8000))]), 'clip.wav')
      return post('/v1/audio/voice-clone', form)
    },
    async close() {
      http.closeAllConnections()
      http.close()
      await once(http, 'close')
      await service.close()
      await installation.close()
    },
  })
}

/** The WAV file of an answer, which that engine has spoken. */
export async function spokenBy(engine: string, answer: Response): Promise<Buffer> {
  const wav = Buffer.from(await answer.arrayBuffer())
  assert.is(answer.status, 200, wav.toString('utf8', 0, 400))
  assert.is(answer.headers.get('x-speech-engine'), engine)
  assert.is(wav.toString('latin1', 0, 4), 'RIFF')
  assert.ok(wav.length > 44)
  return wav
}

export async function assertRefused(answer: Response, status: number, says: RegExp): Promise<void> {
  const text = await answer.text()
  assert.is(answer.status, status, text)
  assert.match(text, says)
}
