import type { Reported } from '../../chat/chat.ts'
import type { Amounts } from '../cost.ts'
import { mostNano, nanoPerUsd } from '../money.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * The amounts in a provider's counts, as chat completions or Anthropic's and Gemini's own fields hold them; undefined where
 * none are reported. `prompt_tokens` holds cached and written tokens already, see the dialects' readers. Counts that are no
 * whole numbers from 0 on are taken as not reported.
 */
export function amountsOf({ usage, service_tier, extra_content, characters }: Reported): Amounts | undefined {
  if (characters !== undefined) return { input: 0, output: 0, characters }
  if (!usage) return undefined
  const { prompt_tokens_details: prompt, completion_tokens_details: completion } = usage
  const anthropic = extra_content && fieldsIn(extra_content, 'anthropic', 'usage')
  const gemini = extra_content && fieldsIn(extra_content, 'gemini', 'usageMetadata')
  // Members are set one by one, and those of 0 left out: this is on the way of every chat, and most have none of them.
  const amounts: Writable<Amounts> = { input: countOf(usage.prompt_tokens), output: countOf(usage.completion_tokens) }
  if (prompt) {
    const long = countOf((anthropic?.['cache_creation'] as Fields | null | undefined)?.['ephemeral_1h_input_tokens'])
    const short = Math.max(0, countOf(prompt.cache_write_tokens) - long)
    const [cached, audio] = [countOf(prompt.cached_tokens), countOf(prompt['audio_tokens'])]
    if (cached > 0) amounts.cached = cached
    if (short > 0) amounts.cacheWrite = short
    if (long > 0) amounts.cacheWriteLong = long
    if (audio > 0) amounts.audioInput = audio
  }
  if (completion) {
    const [reasoning, audio] = [countOf(completion.reasoning_tokens), countOf(completion['audio_tokens'])]
    if (reasoning > 0) amounts.reasoning = reasoning
    if (audio > 0) amounts.audioOutput = audio
  }
  const tier = nameOf(service_tier) ?? nameOf(usage['service_tier']) ?? nameOf(anthropic?.['service_tier'])
  const anyTier = tier ?? nameOf(gemini?.['serviceTier'])
  const speed = nameOf(usage['speed']) ?? nameOf(anthropic?.['speed'])
  const reported = usage['cost'] === undefined ? undefined : reportedNano(usage)
  if (anyTier !== undefined) amounts.serviceTier = anyTier
  if (speed !== undefined) amounts.speed = speed
  if (reported !== undefined) amounts.reportedNano = reported
  return amounts
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

function fieldsIn(extra: NonNullable<Reported['extra_content']>, dialect: string, name: string): Fields | undefined {
  const found = extra[dialect]?.[name]
  return typeof found === 'object' && found !== null ? (found as Fields) : undefined
}

/** A provider's count; 0 for an invalid one. */
function countOf(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0
}

/** A name of a service tier or speed, such as `priority`; undefined for an invalid one. */
function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.length > 0 && value.length <= 40 ? value : undefined
}

/**
 * The cost that a provider reports next to its counts, in nano-USD: OpenRouter's `cost`, in credits of a USD each
 * (https://openrouter.ai/docs/use-cases/usage-accounting). For a key of the user's own (`is_byok`) that is the fee
 * alone, and the provider's own bill is added; undefined where either is not reported, since an absent cost is unknown, not
 * 0.
 */
function reportedNano(usage: Readonly<Record<string, unknown>>): number | undefined {
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
