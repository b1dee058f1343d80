/** Nano-USD (10^-9) as a decimal text in USD without needless zeros: 1500 is `0.0000015`. */
export function usdOf(nano: number): string {
  const sign = nano < 0 ? '-' : ''
  const digits = String(Math.abs(nano)).padStart(10, '0')
  const whole = digits.slice(0, -9)
  const rest = digits.slice(-9).replace(/0+$/, '')
  return rest === '' ? `${sign}${whole}` : `${sign}${whole}.${rest}`
}

/** The largest cost that a provider may report: USD. A larger one is a mistake. */
const mostUsd = 1_000_000

/** A number of USD as nano-USD, rounded half up; undefined for a negative or too large one, and for no number. */
function nanoOf(usd: unknown): number | undefined {
  return typeof usd === 'number' && usd >= 0 && usd <= mostUsd ? Math.round(usd * 1e9) : undefined
}

/**
 * The cost that a provider reports beside its counts, in nano-USD: OpenRouter's `cost`, in credits of a USD each
 * (https://openrouter.ai/docs/use-cases/usage-accounting). For a key of the user's own (`is_byok`) that is the fee
 * alone, and the provider's own bill is added; undefined where either is not told, since an absent cost is unknown, not
 * 0.
 */
export function reportedNano(usage: Readonly<Record<string, unknown>>): number | undefined {
  const cost = nanoOf(usage['cost'])
  if (cost === undefined || usage['is_byok'] !== true) return cost
  const details = usage['cost_details'] as { readonly upstream_inference_cost?: unknown } | null | undefined
  const upstream = nanoOf(details?.upstream_inference_cost)
  return upstream === undefined ? undefined : cost + upstream
}
