/** Timeout of the request: milliseconds. */
const timeoutMs = 1_000

/** The answer of a server at its root: aichat names itself and its installation. Undefined without an answer. */
export async function rootOf(url: string): Promise<Record<string, unknown> | undefined> {
  try {
    const response = await fetch(`${url}/`, { signal: AbortSignal.timeout(timeoutMs), redirect: 'manual' })
    return (await response.json()) as Record<string, unknown>
  } catch {
    return undefined
  }
}
