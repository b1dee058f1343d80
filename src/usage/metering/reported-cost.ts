import { mostNano, nanoPerUsd } from '../money.ts'

/**
 * The cost that a provider reports beside its counts, in nano-USD: OpenRouter's `cost`, in credits of a USD each
 * (https://openrouter.ai/docs/use-cases/usage-accounting). For a key of the user's own (`is_byok`) that is the fee
 * alone, and the provider's own bill is added; undefined where either is not told, since an absent cost is unknown, not
 * 0.
 */
export function reportedNano(usage: Readonly<Record<string, unknown>>): number | undefined {
  const cost = amountOf(usage['cost'])
  if (cost === undefined || usage['is_byok'] !== true) return cost
  const details = usage['cost_details'] as { readonly upstream_inference_cost?: unknown } | null | undefined
  const upstream = amountOf(details?.upstream_inference_cost)
  return upstream === undefined ? undefined : cost + upstream
}

/** A number of USD as nano-USD; undefined for any other value, and for a negative or too large number. */
function amountOf(usd: unknown): number | undefined {
  if (typeof usd !== 'number' || !(usd >= 0)) return undefined
  const nano = Math.round(usd * nanoPerUsd)
  return nano <= mostNano ? nano : undefined
}
