import ipaddr from 'ipaddr.js'

/**
 * The range of a host, by its address and never by its spelling: `forbidden` are link-local and metadata addresses,
 * the unspecified one, multicast and reserved ranges. A name is `public` here; its addresses are checked when it is dialled.
 */
export function hostRange(hostname: string): HostRange {
  let range = ranges.get(hostname)
  if (!range) {
    range = judgeHost(hostname)
    if (ranges.size < 1000) ranges.set(hostname, range)
  }
  return range
}

type HostRange = 'public' | 'private' | 'loopback' | 'forbidden'

/** A cache: ranges do not change, and a gateway asks about the same few hosts for every request. */
const ranges = new Map<string, HostRange>()

function judgeHost(hostname: string): HostRange {
  const host = hostname
    .replace(/^\[|\]$/g, '')
    .replace(/(?<!\.)\.+$/, '')
    .toLowerCase()
  if (isLocalName(host)) return 'loopback'
  if (host === 'metadata.google.internal' || host === 'metadata') return 'forbidden'
  return ipaddr.isValid(host) ? addressRange(host) : 'public'
}

/** True for names that mean this machine (RFC 6761 §6.3). They are never looked up: a resolver could lead them away. */
export function isLocalName(hostname: string): boolean {
  return /(?:^|\.)localhost\.*$/i.test(hostname)
}

/**
 * The same for an address. IPv4 in an IPv6 spelling (RFC 4291 §2.5.5.2) counts as that IPv4 address, and so does
 * an address that a network translates to IPv4 (RFC 6052), except that only a public address may be meant by it.
 */
export function addressRange(address: string): HostRange {
  // The deprecated form ::a.b.c.d (RFC 4291 §2.5.5.1) is no IPv4 address when it is dialled, as ipaddr.js takes it.
  if (/^::\d+\./.test(address)) return 'forbidden'
  const parsed = ipaddr.process(address)
  switch (parsed.range() as string) {
    case 'unicast':
      if (parsed.kind() === 'ipv6' && !isAssigned(parsed)) return 'forbidden'
      // Alibaba's, Oracle's and Azure's own services stand on public-looking addresses.
      return ['100.100.100.200', '192.0.0.192', '168.63.129.16'].includes(parsed.toString()) ? 'forbidden' : 'public'
    case 'rfc6052':
      return translatedRange(parsed)
    case 'loopback':
      return 'loopback'
    case 'private':
    case 'uniqueLocal':
      return parsed.toString() === 'fd00:ec2::254' ? 'forbidden' : 'private'
    case 'carrierGradeNat':
      return parsed.toString() === '100.100.100.200' ? 'forbidden' : 'private'
    default:
      return 'forbidden'
  }
}

/** Whether an IPv6 address is in 2000::/3, all that is assigned as global unicast (IANA's IPv6 address space). */
function isAssigned(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return (address.toByteArray()[0]! & 0xe0) === 0x20
}

/** Where 64:ff9b::/96 leads: networks without IPv4 reach public addresses through it, and nothing else may be. */
function translatedRange(address: ipaddr.IPv4 | ipaddr.IPv6): HostRange {
  const bytes = address.toByteArray()
  const wellKnown = bytes.slice(4, 12).every((byte) => byte === 0)
  const inner = wellKnown ? addressRange(bytes.slice(12).join('.')) : 'forbidden'
  return inner === 'public' ? 'public' : 'forbidden'
}
