import type { WireError } from './dialect.ts'

/** Headers of an answer, as undici and node:http give them: names in lower case. */
export type HeaderBag = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * How many milliseconds a provider asks to be left alone, or undefined when it does not say. In this order:
 * `retry-after-ms`, `x-ms-retry-after-ms` (Azure), `retry-after` (RFC 9110 §10.2.3: seconds or a date),
 * `x-ratelimit-timeremaining` (GitHub, seconds), the body's RetryInfo (Gemini), `x-ratelimit-reset-requests|tokens`
 * (OpenAI, Groq: "1m2.5s"), `anthropic-ratelimit-*-reset` (RFC 3339), and last the words of the message.
 * The rate-limit headers stand on every answer, so they count only where the limit was hit: at status 429.
 */
export function retryAfterOf(
  headers: HeaderBag,
  error: WireError | undefined,
  now: number,
  status: number | undefined = 429,
): number | undefined {
  const limited = status === 429
  return (
    number(header(headers, 'retry-after-ms')) ??
    number(header(headers, 'x-ms-retry-after-ms')) ??
    retryAfter(header(headers, 'retry-after'), now) ??
    number(header(headers, 'x-ratelimit-timeremaining'), 1000) ??
    wait(error?.retryAfterMs) ??
    (limited ? openaiReset(headers) : undefined) ??
    (limited ? anthropicReset(headers, now) : undefined) ??
    (error ? waitInWords(error.message) : undefined)
  )
}

/** The first value of a header, or undefined. */
export function header(headers: HeaderBag, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : value?.[0]
}

/** A span as Go prints it, such as "1m2.5s", "34.4s" or "26ms", in milliseconds; undefined for anything else. */
export function goDuration(text: string): number | undefined {
  if (!/^(?:\d{1,9}(?:\.\d{1,12})?(?:h|ms|m|s|us|µs|ns))+$/.test(text)) return undefined
  let total = 0
  for (const [, amount, unit] of text.matchAll(/(?<![\d.])([\d.]+)(h|ms|m|s|us|µs|ns)/g))
    total += Number(amount) * unitMs[unit!]!
  return Math.ceil(total)
}

const unitMs: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 1e-3,
  µs: 1e-3,
  ns: 1e-6,
}

function retryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined
  const seconds = number(value, 1000)
  if (seconds !== undefined) return seconds
  // Date.parse reads much that is no HTTP date: without a colon in it ("-5", "soon 3") it is none.
  const date = value.includes(':') ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

function openaiReset(headers: HeaderBag): number | undefined {
  return longest(
    ['requests', 'tokens'].map((kind) => ({
      left: header(headers, `x-ratelimit-remaining-${kind}`),
      waitMs: goDuration(header(headers, `x-ratelimit-reset-${kind}`) ?? ''),
    })),
  )
}

function anthropicReset(headers: HeaderBag, now: number): number | undefined {
  return longest(
    ['requests', 'input-tokens', 'output-tokens', 'tokens'].map((kind) => {
      const at = Date.parse(header(headers, `anthropic-ratelimit-${kind}-reset`) ?? '')
      return {
        left: header(headers, `anthropic-ratelimit-${kind}-remaining`),
        waitMs: Number.isNaN(at) ? undefined : Math.max(0, at - now),
      }
    }),
  )
}

/** The longest wait among the limits that are used up; among all of them where none is marked so. */
function longest(limits: readonly { left: string | undefined; waitMs: number | undefined }[]): number | undefined {
  const timed = limits.filter((limit) => limit.waitMs !== undefined)
  const spent = timed.filter((limit) => limit.left !== undefined && Number(limit.left) <= 0)
  const waits = (spent.length > 0 ? spent : timed).map((limit) => limit.waitMs!)
  return waits.length > 0 ? Math.max(...waits) : undefined
}

/** "Please wait 12 seconds before retrying" (GitHub), "Please try again in 1m2.5s" (OpenAI), "Please retry in 48.9s" (Gemini). */
function waitInWords(message: string): number | undefined {
  const found =
    /(?:wait|try again in|retry (?:in|after))\s+(\d{1,9}(?:\.\d{1,12})?)\s*(seconds?\b|[hmsµun][\w.]*)/i.exec(
      message.slice(0, 2000),
    )
  if (!found) return undefined
  const unit = found[2]!.toLowerCase()
  return goDuration(`${found[1]}${unit.startsWith('second') ? 's' : unit.replace(/(?<!\.)\.+$/, '')}`)
}

/** The longest wait passed on: a year. */
const longestWait = 31_536_000_000

function number(value: string | undefined, unit = 1): number | undefined {
  return value !== undefined && /^\s*\d{1,40}(\.\d{1,40})?\s*$/.test(value)
    ? Math.min(Math.ceil(Number(value) * unit), longestWait)
    : undefined
}

function wait(ms: number | undefined): number | undefined {
  return ms !== undefined && Number.isFinite(ms) && ms >= 0 ? ms : undefined
}
