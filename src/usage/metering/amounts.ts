import type { Reported } from '../../chat/metering.ts'
import { reportedNano } from '../money.ts'
import type { Amounts } from '../usage.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * The amounts in a provider's counts, as chat completions or Anthropic's and Gemini's own fields hold them; undefined where
 * none are told. `prompt_tokens` holds cached and written tokens already, see the dialects' readers. Counts that are no
 * whole numbers from 0 on are taken as not told.
 */
export function amountsOf({ usage, service_tier, extra_content, characters }: Reported): Amounts | undefined {
  if (characters !== undefined) return { input: 0, output: 0, characters }
  if (!usage) return undefined
  const { prompt_tokens_details: prompt, completion_tokens_details: completion } = usage
  const anthropic = fieldsIn(extra_content, 'anthropic', 'usage')
  const gemini = fieldsIn(extra_content, 'gemini', 'usageMetadata')
  const long = countIn(anthropic?.['cache_creation'], 'ephemeral_1h_input_tokens')
  const written = countOf(prompt?.cache_write_tokens)
  const tier = [service_tier, usage['service_tier'], anthropic?.['service_tier'], gemini?.['serviceTier']].find(isName)
  const speed = [usage['speed'], anthropic?.['speed']].find(isName)
  const reported = usage['cost'] === undefined ? undefined : reportedNano(usage)
  return {
    input: countOf(usage.prompt_tokens) ?? 0,
    output: countOf(usage.completion_tokens) ?? 0,
    ...some('cached', countOf(prompt?.cached_tokens)),
    ...some('cacheWrite', written === undefined ? undefined : Math.max(0, written - (long ?? 0))),
    ...some('cacheWriteLong', long),
    ...some('reasoning', countOf(completion?.reasoning_tokens)),
    ...some('audioInput', countOf(prompt?.['audio_tokens'])),
    ...some('audioOutput', countOf(completion?.['audio_tokens'])),
    ...(tier !== undefined && { serviceTier: tier }),
    ...(speed !== undefined && { speed }),
    ...(reported !== undefined && { reportedNano: reported }),
  }
}

/** A member that is 0 is left out: most answers have no cached, audio or reasoning tokens. */
function some<N extends string>(name: N, value: number | undefined): { readonly [K in N]?: number } {
  return value ? ({ [name]: value } as { readonly [K in N]?: number }) : {}
}

function fieldsIn(extra: Reported['extra_content'], dialect: string, name: string): Fields | undefined {
  const found = extra?.[dialect]?.[name]
  return typeof found === 'object' && found !== null ? (found as Fields) : undefined
}

function countIn(fields: unknown, name: string): number | undefined {
  return typeof fields === 'object' && fields !== null ? countOf((fields as Fields)[name]) : undefined
}

function countOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
}

/** A name of a service tier or speed: `standard`, `priority`. */
function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= 40
}
