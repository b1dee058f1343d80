import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ServerId } from '../../../speech/servers/manifest.ts'
import { openSpeechService, type ServiceOptions, type SpeechService } from '../../../speech/service.ts'
import { createSpeechServer } from '../../../src/server/speech.ts'
import { openInstallation } from '../program/installation.ts'

/** A speech server on loopback with its engine, in an installation of its own. */
export interface SpeechServer {
  readonly url: string
  readonly service: SpeechService
  /** The log events. */
  readonly events: readonly string[]
  post(path: string, body: unknown): Promise<Response>
  close(): Promise<void>
}

export async function openSpeech(server: ServerId, options: Partial<ServiceOptions> = {}): Promise<SpeechServer> {
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
  await service.load()
  const http = createHttpServer(createSpeechServer({ app: installation.app, observe: () => {} }, service))
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  return {
    url,
    service,
    events,
    post: (path, body) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        ...(body instanceof FormData
          ? { body }
          : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      }),
    async close() {
      http.closeAllConnections()
      http.close()
      await once(http, 'close')
      await service.close()
      await installation.close()
    },
  }
}
