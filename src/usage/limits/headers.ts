import type { HeaderNames } from '../../chat/chat.ts'
import type { Window } from './windows.ts'

/** The windows that concern a request, of all its subjects. */
export interface Limited {
  readonly requests: readonly Window[]
  readonly tokens: readonly Window[]
}

type What = keyof Limited

/** The names of the headers of a limit: limit, remaining, reset. */
type Names = readonly [limit: string, remaining: string, reset: string]

/** There is one limit for all tokens: it bounds those of the input and those of the output alike. */
const names: Readonly<Record<HeaderNames, Readonly<Record<What, readonly Names[]>>>> = {
  openai: {
    requests: [['x-ratelimit-limit-requests', 'x-ratelimit-remaining-requests', 'x-ratelimit-reset-requests']],
    tokens: [['x-ratelimit-limit-tokens', 'x-ratelimit-remaining-tokens', 'x-ratelimit-reset-tokens']],
  },
  anthropic: {
    requests: [anthropicNames('requests')],
    tokens: [anthropicNames('tokens'), anthropicNames('input-tokens'), anthropicNames('output-tokens')],
  },
}

function anthropicNames(kind: string): Names {
  const name = `anthropic-ratelimit-${kind}`
  return [`${name}-limit`, `${name}-remaining`, `${name}-reset`]
}

/**
 * The limits of a request for its client, of requests and of tokens the tightest each: the one of which least is left. A
 * reset is the time at which nothing is counted any more. Next to the names of the client's API, those of
 * draft-ietf-httpapi-ratelimit-headers.
 */
export function limitHeaders({ requests, tokens }: Limited, api: HeaderNames, now: number): Record<string, string> {
  const headers: Record<string, string> = {}
  const ofRequests = tightest(requests, now)
  const ofTokens = tightest(tokens, now)
  if (ofRequests) write(headers, 'requests', ofRequests, api, now)
  if (ofTokens) write(headers, 'tokens', ofTokens, api, now)
  return headers
}

function write(headers: Record<string, string>, what: What, window: Window, api: HeaderNames, now: number): void {
  const limit = String(window.limit)
  const left = String(window.remaining(now))
  const resetMs = window.resetMs(now)
  const reset = api === 'openai' ? durationText(resetMs) : timeText(now + resetMs)
  for (const [ofLimit, ofRemaining, ofReset] of names[api][what]) {
    headers[ofLimit] = limit
    headers[ofRemaining] = left
    headers[ofReset] = reset
  }
  const before = headers['ratelimit']
  const policy = `"${what}";q=${limit};w=${windowSeconds(window)}`
  const state = `"${what}";r=${left};t=${Math.ceil(resetMs / 1000)}`
  headers['ratelimit-policy'] = before === undefined ? policy : `${headers['ratelimit-policy']}, ${policy}`
  headers['ratelimit'] = before === undefined ? state : `${before}, ${state}`
}

/** A moment as RFC 3339 writes it, to the second. Kept, since many requests of a second have one reset. */
function timeText(at: number): string {
  const second = Math.ceil(at / 1000)
  if (second !== lastSecond) {
    lastSecond = second
    lastText = `${new Date(second * 1000).toISOString().slice(0, 19)}Z`
  }
  return lastText
}

let lastSecond = Number.NaN
let lastText = ''

/** A duration as OpenAI writes it: `1m2.5s`, `6h0m0s`, `120ms`, `0s`. */
function durationText(ms: number): string {
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
  let found = windows[0]
  for (let at = 1; at < windows.length; at++)
    if (windows[at]!.remaining(now) < found!.remaining(now)) found = windows[at]
  return found
}
