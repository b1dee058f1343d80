import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { completion, completionEvents, json } from '../helpers/providers/fake-provider.ts'
import { faultServer } from '../helpers/providers/fault-server.ts'

/** The sixteen faults of failoverbench and those of our own, by the names of the fault server. */
export const soakFaults: readonly string[] = [
  'rate limit with a wait',
  'rate limit with a long wait',
  'rate limit without a wait',
  'server error once',
  'unavailable for good',
  'overloaded',
  'reset',
  'silence before headers',
  'slow first token',
  'cut in the middle',
  'silence after the first chunk',
  'bad chunk',
  'no end marker',
  'too long',
  'policy refusal',
  'flap',
  'error in a 200, as OpenRouter',
  'split UTF-8',
]

export interface LoadProvider {
  readonly url: string
  /** The plugin of a path: `healthy`, `paced`, or one of the faults. */
  plugin(id: string, path: string): Record<string, unknown>
  close(): Promise<void>
}

/** Seconds of working and of failing of the provider that flaps: a minute in all. */
const flapMs = 30_000

/** Words of a paced stream, and milliseconds between two. */
const pacedWords = 40
const paceMs = 50

/** A provider that keeps nothing of its requests, so that it can be asked for hours. */
export async function openLoadProvider(): Promise<LoadProvider> {
  const fault = faultServer()
  const healthy = completionEvents(Array.from({ length: 20 }, (_, index) => `word${index} `))
  const large = Buffer.from(completionEvents(Array.from({ length: 4_000 }, () => 'x'.repeat(250))).join(''))
  const server = createServer(async (incoming, response) => {
    const pieces: Buffer[] = []
    try {
      for await (const piece of incoming) pieces.push(piece as Buffer)
    } catch {
      // The client of the daemon left.
      return
    }
    response.on('error', () => {})
    const body = Buffer.concat(pieces).toString('utf8')
    const name = decodeURIComponent(incoming.url!.split('/')[1]!)
    const isStream = JSON.parse(body).stream === true
    const works = name === 'healthy' || (name === 'flap' && Date.now() % (2 * flapMs) < flapMs)
    if (name === 'flap' && !works) return json(response, 503, { error: { message: 'Down' } })
    if (name === 'paced' && isStream) {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const events = completionEvents(Array.from({ length: pacedWords }, (_, index) => `word${index} `))
      const timer = setInterval(() => {
        response.write(events.shift()!)
        if (events.length > 0) return
        clearInterval(timer)
        response.end()
      }, paceMs)
      response.on('close', () => clearInterval(timer))
      return
    }
    if (name === 'large' && isStream) {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(large)
      return
    }
    if (works || name === 'paced' || name === 'large') {
      if (!isStream) return json(response, 200, completion('Hello big wide world'))
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(healthy.join(''))
      return
    }
    const request = { method: 'POST', url: incoming.url!, headers: incoming.headers, body, cancelled: false }
    await fault(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    plugin: (id, path) => ({
      id,
      name: id,
      type: 'completion',
      endpoint: `${url}/${encodeURIComponent(path)}/v1/chat/completions`,
      auth: { header: 'Authorization', prefix: 'Bearer ', key_env: 'CUSTOM_API_KEY' },
      model_map: [`model-${id}`],
      timeouts: { connect: 1_000, first_byte: 1_500, idle: 1_500, total: 6_000 },
    }),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
