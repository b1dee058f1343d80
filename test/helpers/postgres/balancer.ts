import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A balancer of HTTP on loopback: requests go to one target after the other, to those that are gone too; none is repeated. */
export interface Balancer {
  readonly url: string
  close(): Promise<void>
}

/** Opens one; `targets` is asked at each request. A target that cannot be reached is answered for with 502. */
export async function openBalancer(targets: () => readonly string[]): Promise<Balancer> {
  let count = 0
  const server = createServer((incoming, answer) => {
    const all = targets()
    const target = new URL(all[count++ % all.length]!)
    const outgoing = request({
      host: target.hostname,
      port: target.port,
      method: incoming.method,
      path: incoming.url,
      headers: { ...incoming.headers, 'x-forwarded-for': incoming.socket.remoteAddress },
      // A connection of its own for each request: one that the target has just closed could not be used for it.
      agent: false,
    })
    outgoing.on('response', (response) => {
      answer.writeHead(response.statusCode!, response.headers)
      response.pipe(answer)
      // A target that ends in the middle leaves a cut answer.
      response.on('error', () => answer.destroy())
    })
    outgoing.on('error', () => {
      if (answer.headersSent) answer.destroy()
      else answer.writeHead(502).end('Bad gateway')
    })
    answer.on('close', () => outgoing.destroy())
    incoming.on('error', () => outgoing.destroy()).pipe(outgoing)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
