/** Timeout of the request: milliseconds. */
const timeoutMs = 1_000

/** What a server says of itself at its root: an aichat names itself and its installation. Undefined where none answers. */
export async function rootOf(url: string): Promise<Record<string, unknown> | undefined> {
  try {
    const response = await fetch(`${url}/`, { signal: AbortSignal.timeout(timeoutMs), redirect: 'manual' })
    return (await response.json()) as Record<string, unknown>
  } catch {
    return undefined
  }
}
