import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { TlsPair } from './tls.ts'

/** How long a client may take for its TLS handshake: milliseconds, as for its headers. */
const handshakeMs = 10_000

/** A server that does not listen yet. */
export function createOwnServer(tls: TlsPair | undefined): Server {
  return tls
    ? createSecureServer({ ...tls.options, handshakeTimeout: handshakeMs, ALPNProtocols: ['http/1.1'] })
    : createServer()
}

/**
 * A server for the two cases that listhen does not cover: https with a certificate that changes, and a socket that
 * systemd has opened.
 */
export async function listenOurselves(
  where: { readonly host: string; readonly port: number } | { readonly fd: number },
  tls: TlsPair | undefined,
): Promise<Server> {
  const server = createOwnServer(tls)
  server.listen(where)
  await once(server, 'listening')
  return server
}
