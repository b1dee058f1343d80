import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request as openRequest, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AppError } from '../errors.ts'
import { sameText } from './guards.ts'
import type { NodeHandler } from './http-server.ts'
import { errorBody, safeHeaders, splitTarget } from './request-context.ts'

/** Headers between the processes of a service. They tell the client's address, so a secret keeps other senders out. */
const secretHeader = 'x-aichat-worker-secret'
const clientHeader = 'x-aichat-worker-client'

/** Headers of one connection (RFC 9110, 7.6.1), and one that Node has answered. */
const ofConnection = new Set(['connection', 'keep-alive', 'proxy-connection', 'upgrade', 'expect'])

/** A secret of 256 random bits for the processes of one service. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Routes that the owner of the service answers: it has the speech engines, and collects the reports of all workers. */
const paths = new Set(['/metrics', '/api/status', '/api/service', '/api/service/reload', '/api/plugins/status/all'])
const folders = ['/api/settings/', '/api/speech', '/v1/audio/']
const madePath = /^\/(?:v1\/responses\/(?=resp_)|api\/chat\/tools\/)([\w-]{1,100})(?:\/cancel)?$/

/** Whether a worker forwards requests of this path to the owner. */
export function isOfOwner(path: string): boolean {
  return paths.has(path) || folders.some((folder) => path.startsWith(folder))
}

/** The response or call of a tool that a request is about, which the process that makes it answers best. */
export function madeIn(path: string): string | undefined {
  return path.startsWith('/v1/responses/') || path.startsWith('/api/chat/tools/') ? madePath.exec(path)?.[1] : undefined
}

/** Answers requests that other processes of the service pass on, on a port of this machine that asks for the secret. */
export async function listenForOthers(handler: NodeHandler, secret: string): Promise<Server & { readonly at: number }> {
  const server = createServer((request, response) => {
    const { [secretHeader]: given, [clientHeader]: client } = request.headers
    if (typeof given !== 'string' || !sameText(given, secret) || typeof client !== 'string')
      return void request.socket.destroy()
    const [scheme, address] = [client.slice(0, client.indexOf(' ')), client.slice(client.indexOf(' ') + 1)]
    delete request.headers[secretHeader]
    delete request.headers[clientHeader]
    // Each request has a connection of its own, which stands for that of the client.
    Object.defineProperty(request.socket, 'remoteAddress', { value: address === '' ? undefined : address })
    Object.defineProperty(request.socket, 'encrypted', { value: scheme === 'https' })
    return void handler(request, response)
  })
  server.headersTimeout = 10_000
  // The process that passes a request on bounds its body, see body-watch.ts.
  server.requestTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return Object.assign(server, { at: (server.address() as AddressInfo).port })
}

/** Has another process of the service answer a request, byte by byte; 503 where it has gone. */
export function passOn(request: IncomingMessage, response: ServerResponse, port: number, secret: string): void {
  const { socket, method, url, rawHeaders } = request
  const scheme = 'encrypted' in socket && socket.encrypted === true ? 'https' : 'http'
  const headers = [
    ...endToEnd(rawHeaders).filter(([name]) => !name.toLowerCase().startsWith('x-aichat-worker-')),
    [secretHeader, secret],
    [clientHeader, `${scheme} ${socket.remoteAddress ?? ''}`],
    ['connection', 'close'],
  ].flat()
  const passed = openRequest({ host: '127.0.0.1', port, method, path: url, headers: headers as never, agent: false })
  response.once('close', () => passed.destroy())
  passed.on('response', (answer) => {
    response.writeHead(answer.statusCode!, answer.statusMessage, endToEnd(answer.rawHeaders).flat())
    response.flushHeaders()
    answer.pipe(response, { end: false })
    answer.on('end', () => {
      const trailers = pairsOf(answer.rawTrailers)
      if (trailers.length > 0) response.addTrailers(trailers)
      response.end()
    })
    answer.on('error', () => response.destroy())
  })
  passed.on('error', () => {
    if (response.headersSent || response.destroyed) return void response.destroy()
    const reason = new AppError('unavailable', 'A process of this service has ended', { retryAfter: 1 })
    response.writeHead(reason.status, { ...safeHeaders, 'content-type': 'application/json', 'retry-after': '1' })
    response.end(JSON.stringify(errorBody(reason, '')))
  })
  request.on('error', () => passed.destroy())
  request.pipe(passed)
}

/** The path of a request, without its query. */
export function pathOf({ url }: IncomingMessage): string {
  return splitTarget(url).path
}

function endToEnd(raw: readonly string[]): [string, string][] {
  return pairsOf(raw).filter(([name]) => !ofConnection.has(name.toLowerCase()))
}

function pairsOf(raw: readonly string[]): [string, string][] {
  const pairs: [string, string][] = []
  for (let at = 0; at + 1 < raw.length; at += 2) pairs.push([raw[at]!, raw[at + 1]!])
  return pairs
}
