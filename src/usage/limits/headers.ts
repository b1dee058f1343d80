import type { Window } from './windows.ts'

/** The names under which a client expects its limits: those of OpenAI's or of Anthropic's API. */
export type HeaderNames = 'openai' | 'anthropic'

/** The windows that concern a request, of all its subjects. */
export interface Limited {
  readonly requests: readonly Window[]
  readonly tokens: readonly Window[]
}

/**
 * The limits of a request for its client, of requests and of tokens the tightest each: the one of which least is left. A
 * reset is the time at which nothing is counted any more. Beside the names of the client's API, those of
 * draft-ietf-httpapi-ratelimit-headers.
 */
export function limitHeaders({ requests, tokens }: Limited, names: HeaderNames, now: number): Record<string, string> {
  const headers: Record<string, string> = {}
  const policies: string[] = []
  const left: string[] = []
  for (const [what, windows] of [['requests', requests] as const, ['tokens', tokens] as const]) {
    const window = tightest(windows, now)
    if (!window) continue
    const remaining = window.remaining(now)
    const resetMs = window.resetMs(now)
    if (names === 'openai') writeOpenai(headers, what, window.limit, remaining, resetMs)
    else {
      // There is one limit for all tokens: it bounds those of the input and those of the output alike.
      const kinds = what === 'tokens' ? ['tokens', 'input-tokens', 'output-tokens'] : [what]
      const reset = new Date(Math.ceil((now + resetMs) / 1000) * 1000).toISOString().replace('.000Z', 'Z')
      for (const kind of kinds) {
        headers[`anthropic-ratelimit-${kind}-limit`] = String(window.limit)
        headers[`anthropic-ratelimit-${kind}-remaining`] = String(remaining)
        headers[`anthropic-ratelimit-${kind}-reset`] = reset
      }
    }
    policies.push(`"${what}";q=${window.limit};w=${windowSeconds(window)}`)
    left.push(`"${what}";r=${remaining};t=${Math.ceil(resetMs / 1000)}`)
  }
  if (policies.length > 0) {
    headers['ratelimit-policy'] = policies.join(', ')
    headers['ratelimit'] = left.join(', ')
  }
  return headers
}

function writeOpenai(
  headers: Record<string, string>,
  what: 'requests' | 'tokens',
  limit: number,
  remaining: number,
  resetMs: number,
): void {
  headers[`x-ratelimit-limit-${what}`] = String(limit)
  headers[`x-ratelimit-remaining-${what}`] = String(remaining)
  headers[`x-ratelimit-reset-${what}`] = durationText(resetMs)
}

/** A duration as OpenAI writes it: `1m2.5s`, `6h0m0s`, `120ms`, `0s`. */
export function durationText(ms: number): string {
  const whole = Math.ceil(ms)
  if (whole < 1000) return whole === 0 ? '0s' : `${whole}ms`
  const hours = Math.floor(whole / 3_600_000)
  const minutes = Math.floor(whole / 60_000) % 60
  const seconds = (whole % 60_000) / 1000
  return `${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${seconds}s`
}

/** The span that a window promises, without the slot that it has more. */
function windowSeconds({ span }: Window): number {
  return ((span.slots - 1) * span.slotMs) / 1000
}

function tightest(windows: readonly Window[], now: number): Window | undefined {
  let found: Window | undefined
  for (const window of windows) if (!found || window.remaining(now) < found.remaining(now)) found = window
  return found
}
