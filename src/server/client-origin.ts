import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type Origin, originOf, type Proxies, readProxies } from '../accounts/accounts.ts'
import type { Settings } from '../settings/settings.ts'

/** Finds the client of a request, behind trusted proxies. */
export function clientOrigins(proxies: () => Proxies): (request: IncomingMessage) => Origin {
  // A connection without a proxy belongs to one client.
  const direct = new WeakMap<Socket, Origin>()
  return ({ socket, headers }) => {
    const forwarded = headers['x-forwarded-for']?.toString()
    const known = forwarded === undefined ? direct.get(socket) : undefined
    if (known) return known
    const found = originOf(socket.remoteAddress, forwarded, proxies())
    if (forwarded === undefined) direct.set(socket, found)
    return found
  }
}

/** The trusted proxies by the setting of the moment, read once for each of its values. Throws `configuration`. */
export function proxiesOf(settings: Pick<Settings, 'trustProxy'>): () => Proxies {
  let from = settings.trustProxy
  let proxies = readProxies(from)
  return () => {
    if (settings.trustProxy !== from) {
      from = settings.trustProxy
      proxies = readProxies(from)
    }
    return proxies
  }
}
