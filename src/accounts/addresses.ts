import { BlockList, isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { AppError } from '../errors.ts'

/** The trusted proxies, which tell the client's address. */
export interface Proxies {
  includes(address: string): boolean
}

/** Where a request came from. */
export interface Origin {
  /** The client's address, as the socket or a trusted proxy says it. */
  readonly address: string
  /** True when it certainly comes from this machine: over loopback, and not through a proxy that is not named. */
  readonly local: boolean
}

/** TRUST_PROXY: addresses, networks such as 10.0.0.0/8, or `loopback`. Throws a `configuration` AppError for anything else. */
export function readProxies(entries: readonly string[]): Proxies {
  const list = new BlockList()
  const wrong: string[] = []
  for (const entry of entries) {
    const [address = '', prefix, ...rest] = entry.split('/')
    const family = isIP(address)
    const bits = prefix === undefined ? undefined : Number(prefix)
    if (entry === 'loopback') {
      list.addSubnet('127.0.0.0', 8, 'ipv4')
      list.addAddress('::1', 'ipv6')
    } else if (
      family === 0 ||
      rest.length > 0 ||
      (bits !== undefined && !(/^\d+$/.test(prefix!) && bits <= (family === 4 ? 32 : 128)))
    )
      wrong.push(`"${entry}" is no address, no network and not loopback`)
    else if (bits === undefined) list.addAddress(address, family === 4 ? 'ipv4' : 'ipv6')
    else list.addSubnet(address, bits, family === 4 ? 'ipv4' : 'ipv6')
  }
  if (wrong.length > 0) throw new AppError('configuration', 'TRUST_PROXY makes no sense', { details: wrong })
  return { includes: (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6') }
}

/**
 * The client behind a socket: the peer itself, unless that is a named proxy; then the right-most hop of X-Forwarded-For
 * that is none. Hops further left were written by the client and prove nothing.
 */
export function originOf(peer: string | undefined, forwarded: string | undefined, proxies: Proxies): Origin {
  let address = plain(peer ?? '')
  if (!proxies.includes(address)) return { address, local: isLoopback(address) && forwarded === undefined }
  const hops = (forwarded ?? '').split(',').map((hop) => plain(hop.trim()))
  while (hops.length > 0 && proxies.includes(address)) {
    const hop = hops.pop()!
    if (isIP(hop) === 0) break
    address = hop
  }
  return { address, local: forwarded === undefined && isLoopback(address) }
}

/** The key that attempts are counted by: the address, or for IPv6 the /64 network, which one subscriber has. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  return `${(parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}

/** One spelling per address: IPv4 written as IPv6 becomes IPv4, zones and ports go. */
function plain(text: string): string {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1] ?? text
  const address = bare.replace(/%.*/s, '')
  return isIP(address) === 0 ? address : ipaddr.process(address).toString()
}

function isLoopback(address: string): boolean {
  return isIP(address) !== 0 && ipaddr.process(address).range() === 'loopback'
}
