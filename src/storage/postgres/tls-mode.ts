/**
 * The URL with the modes of TLS that check a certificate under the one name that will go on to do so: `prefer`, `require` and
 * `verify-ca` are `verify-full` for the driver today, and it warns at each start that they will be less. A URL that asks for
 * libpq's own meaning (`uselibpqcompat=true`) stays.
 */
export function withCheckedTls(url: string): string {
  const parsed = new URL(url)
  const { searchParams } = parsed
  if (searchParams.get('uselibpqcompat') === 'true') return url
  if (!/^(?:prefer|require|verify-ca)$/.test(searchParams.get('sslmode') ?? '')) return url
  searchParams.set('sslmode', 'verify-full')
  return parsed.href
}
