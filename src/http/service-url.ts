/** The URL at which this machine reaches a service that listens on a host: one that listens everywhere is here too. */
export function serviceUrl(host: string, port: number, scheme: 'http' | 'https' = 'http'): string {
  const everywhere: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }
  const address = everywhere[host] ?? host
  return `${scheme}://${address.includes(':') ? `[${address}]` : address}:${port}`
}
