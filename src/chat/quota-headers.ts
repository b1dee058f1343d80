import { goDuration, type HeaderBag, header } from './protocol/retry-after.ts'

/** The rest of one quota of a key, as an answer's headers tell it. */
export interface Quota {
  readonly kind: 'requests' | 'tokens'
  readonly remaining: number
  readonly limit: number | undefined
  /** Milliseconds until it is filled again, at the most. */
  readonly resetMs: number
}

interface Names {
  readonly kind: Quota['kind']
  readonly remaining: string
  readonly limit: string
  readonly reset: string | undefined
}

/**
 * The headers by which providers tell the quotas of a key:
 * OpenAI and Groq (https://platform.openai.com/docs/guides/rate-limits, https://console.groq.com/docs/rate-limits),
 * Anthropic (https://docs.anthropic.com/en/api/rate-limits#response-headers), and Mistral, with quotas of a minute.
 * Gemini and OpenRouter tell none.
 */
const names: readonly Names[] = [
  ...(['requests', 'tokens'] as const).map((kind) => ({
    kind,
    remaining: `x-ratelimit-remaining-${kind}`,
    limit: `x-ratelimit-limit-${kind}`,
    reset: `x-ratelimit-reset-${kind}`,
  })),
  ...(['requests', 'tokens', 'input-tokens', 'output-tokens'] as const).map((name) => ({
    kind: name === 'requests' ? ('requests' as const) : ('tokens' as const),
    remaining: `anthropic-ratelimit-${name}-remaining`,
    limit: `anthropic-ratelimit-${name}-limit`,
    reset: `anthropic-ratelimit-${name}-reset`,
  })),
  ...(['req', 'tokens'] as const).map((name) => ({
    kind: name === 'req' ? ('requests' as const) : ('tokens' as const),
    remaining: `x-ratelimit-remaining-${name}-minute`,
    limit: `x-ratelimit-limit-${name}-minute`,
    reset: undefined,
  })),
]

/** A quota without a time of its end counts as one of a minute. Milliseconds. */
const minute = 60_000

/** No quota is believed for longer: a wrong clock must not put a key away for good. Milliseconds. */
const longest = 86_400_000

/** The quotas in an answer's headers; `now` is milliseconds since 1970 UTC, for ends that are given as dates. */
export function quotasIn(headers: HeaderBag, now: number): readonly Quota[] {
  return names.flatMap(({ kind, remaining, limit, reset }) => {
    const left = numberOf(header(headers, remaining))
    if (left === undefined) return []
    const ms = resetOf(reset === undefined ? undefined : header(headers, reset), now)
    return [{ kind, remaining: left, limit: numberOf(header(headers, limit)), resetMs: Math.min(ms, longest) }]
  })
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

/** `6m0s`, `1.5s`, `20ms`, a number of seconds, or a date of RFC 3339. */
function resetOf(text: string | undefined, now: number): number {
  if (text === undefined || text.length > 40) return minute
  const duration = goDuration(text)
  if (duration !== undefined) return duration
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000
  const date = Date.parse(text)
  return Number.isNaN(date) ? minute : Math.max(0, date - now)
}
