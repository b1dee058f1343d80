/**
 * The least cost of a gateway on Node, for the gateway bench: `floor.ts pipe URL` passes bytes on with node:http alone,
 * and `floor.ts h3 URL` is the shortest gateway of h3 and undici that reads and writes the JSON. Neither guards,
 * judges, tries again or counts anything. Prints its port.
 */
import { createServer, Agent as NodeAgent, type RequestListener, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ReadableStream } from 'node:stream/web'
import { H3, toNodeHandler } from 'h3'
import { Agent, request as ask } from 'undici'

const [kind, upstream] = process.argv.slice(2) as ['pipe' | 'h3', string]
const json = { 'content-type': 'application/json' }

const handler = { pipe: piped, h3: throughH3 }[kind]()
const server = createServer(handler)
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))

function piped(): RequestListener {
  const agent = new NodeAgent({ keepAlive: true })
  return (incoming, response) => {
    const headers = { ...json, 'content-length': incoming.headers['content-length'] }
    const outgoing = request(upstream + incoming.url!, { method: 'POST', agent, headers }, (reply) => {
      response.writeHead(reply.statusCode!, reply.headers)
      reply.pipe(response)
    })
    outgoing.on('error', () => response.destroy())
    incoming.pipe(outgoing)
  }
}

function throughH3(): RequestListener {
  const dispatcher = new Agent({ connections: 256 })
  const app = new H3()
  app.post('/v1/chat/completions', async ({ req }) => {
    const body = (await req.json()) as { readonly stream?: boolean }
    const reply = await ask(`${upstream}/v1/chat/completions`, {
      method: 'POST',
      dispatcher,
      headers: json,
      body: JSON.stringify(body),
    })
    if (!body.stream) return JSON.parse(await reply.body.text()) as object
    return new Response(ReadableStream.from(reply.body), { headers: { 'content-type': 'text/event-stream' } })
  })
  return toNodeHandler(app) as RequestListener
}
