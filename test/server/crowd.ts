import { once } from 'node:events'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'

/** Streams that are open at once, each over a socket of its own. Resolves with those that came to their end. */
export async function openStreams(
  url: string,
  token: string,
  model: string,
  count: number,
): Promise<{ readonly complete: number; readonly longestGapMs: number }> {
  const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Say much' }] })
  let longestGapMs = 0
  const one = () =>
    new Promise<boolean>((resolve) => {
      const sent = request(
        `${url}/v1/chat/completions`,
        {
          method: 'POST',
          agent: false,
          headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        },
        (response) => {
          let end = ''
          let last = performance.now()
          response.setEncoding('utf8').on('data', (text: string) => {
            const now = performance.now()
            longestGapMs = Math.max(longestGapMs, now - last)
            last = now
            end = (end + text).slice(-100)
          })
          response.on('close', () => resolve(response.statusCode === 200 && end.includes('[DONE]')))
        },
      )
      sent.on('error', () => resolve(false))
      sent.end(body)
    })
  const ended = await Promise.all(Array.from({ length: count }, one))
  return { complete: ended.filter(Boolean).length, longestGapMs }
}

/** Sockets of slow clients: some send a part of a request and then nothing, others read nothing of their answers. */
export async function openSlowSockets(
  url: string,
  token: string,
  model: string,
  count: number,
): Promise<readonly Socket[]> {
  const { hostname, port } = new URL(url)
  const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Say much' }] })
  const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      await once(socket, 'connect')
      socket.pause()
      // A third says half of its headers, a third half of its body, and a third reads nothing of its answer.
      socket.write([head.slice(0, 60), head + body.slice(0, 20), head + body][index % 3]!)
      return socket
    }),
  )
}

/** Deadlines that a busy machine keeps, for plugins of a crowd. */
export const patient = { timeouts: { connect: 30_000, first_byte: 60_000, idle: 60_000, total: 300_000 } }
