import ipaddr from 'ipaddr.js'

/**
 * Where a host lies, judged by its address and never by its spelling: `forbidden` are link-local and metadata addresses,
 * the unspecified one, multicast and reserved ranges. A name is `public` here; its addresses are judged when it is dialled.
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

/** Verdicts do not change, and a gateway asks about the same few hosts for every request. */
const ranges = new Map<string, HostRange>()

function judgeHost(hostname: string): HostRange {
  const host = hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase()
  if (host === 'localhost' || host.endsWith('.localhost')) return 'loopback'
  if (host === 'metadata.google.internal' || host === 'metadata') return 'forbidden'
  return ipaddr.isValid(host) ? addressRange(host) : 'public'
}

/** The same for an address; IPv4 in an IPv6 spelling is judged as the IPv4 address it is. */
export function addressRange(address: string): HostRange {
  const parsed = ipaddr.process(address)
  switch (parsed.range() as string) {
    case 'unicast':
      // Alibaba's, Oracle's and Azure's own services stand on public-looking addresses.
      return ['100.100.100.200', '192.0.0.192', '168.63.129.16'].includes(parsed.toString()) ? 'forbidden' : 'public'
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
