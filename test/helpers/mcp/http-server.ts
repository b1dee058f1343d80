import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { createSdkServer } from './sdk-server.ts'

export interface HttpToolServer {
  readonly url: string
  /** The headers of all requests. */
  readonly received: IncomingMessage['headers'][]
  close(): Promise<void>
}

/** The server of the tests over HTTP, on loopback. */
export async function openHttpToolServer(): Promise<HttpToolServer> {
  const deeds = { shifty: 'Does nothing much' }
  const received: IncomingMessage['headers'][] = []
  const handler = createMcpHandler(() => createSdkServer(deeds))
  const server = createServer(async (request, response) => {
    received.push(request.headers)
    const left = new AbortController()
    response.on('close', () => left.abort())
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const headers = Object.entries(request.headers).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    )
    const answer = await handler.fetch(
      new Request(`http://127.0.0.1${request.url}`, {
        method: request.method!,
        headers,
        signal: left.signal,
        ...(pieces.length > 0 && { body: Buffer.concat(pieces) }),
      }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.on('error', () => {})
    for await (const piece of answer.body ?? []) {
      if (response.destroyed) break
      response.write(piece)
    }
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    received,
    async close() {
      await handler.close()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
