import type { Amounts } from '../cost.ts'
import type { Price, Rates, Tariff } from './price.ts'

/** All rates of a tariff; only `output` may be unknown. */
interface FlatRates extends Required<Omit<Rates, 'output'>> {
  readonly output: number | undefined
  /** The dearest of each direction. */
  readonly mostInput: number
  readonly mostOutput: number | undefined
}

interface FlatTariff {
  readonly base: FlatRates
  /** Input tokens, beyond which `long` holds; Infinity without such rates. */
  readonly above: number
  readonly long: FlatRates
}

/** A price, ready to be multiplied. */
export type FlatPrice = ReturnType<typeof flatPrice>

/** Fills in the rates that a price does not name. */
export function flatPrice({ plugin, model, rates, long, services }: Price) {
  const isClaude = plugin === 'anthropic' || /(?:^|[/.])claude-/i.test(model)
  const flat = (tariff: Tariff): FlatTariff => {
    const base = flatOf(tariff.rates, isClaude)
    return {
      base,
      above: tariff.long?.above ?? Number.POSITIVE_INFINITY,
      long: tariff.long ? flatOf(tariff.long.rates, isClaude) : base,
    }
  }
  return {
    standard: flat({ rates, ...(long && { long }) }),
    services: new Map([...(services ?? [])].map(([name, tariff]) => [name, flat(tariff)])),
  }
}

/**
 * Anthropic bills caches by fixed factors of its input rate: 0.1 for reads, 1.25 for writes that last 5 minutes, 2 for
 * an hour (its documentation on prompt caching). For others a part without a rate has that of the whole, and a write
 * for an hour that of a shorter one.
 */
function flatOf(rates: Rates, isClaude: boolean): FlatRates {
  const { input, output } = rates
  const cached = rates.cached ?? (isClaude ? times(input, 1, 10) : input)
  const cacheWrite = rates.cacheWrite ?? (isClaude ? times(input, 5, 4) : input)
  const cacheWriteLong = rates.cacheWriteLong ?? (isClaude ? input * 2 : cacheWrite)
  const audioInput = rates.audioInput ?? input
  const reasoning = rates.reasoning ?? output ?? 0
  const audioOutput = rates.audioOutput ?? output ?? 0
  return {
    input,
    cached,
    cacheWrite,
    cacheWriteLong,
    audioInput,
    output,
    reasoning,
    audioOutput,
    mostInput: Math.max(input, cached, cacheWrite, cacheWriteLong, audioInput),
    mostOutput: output === undefined ? undefined : Math.max(output, reasoning, audioOutput),
  }
}

/** A share of a rate, rounded half up. */
function times(rate: number, numerator: number, denominator: number): number {
  return Math.floor((2 * rate * numerator + denominator) / (2 * denominator))
}

/** Names under which providers report their normal service: OpenAI, Anthropic, Gemini and Mistral, Groq. */
const standardServices = new Set(['default', 'standard', 'on_demand', 'auto', 'unspecified', ''])

/**
 * The cost of an attempt in nano-USD: one sum of all parts, rounded once, half up. Null where it is unknown: a service tier,
 * a speed or an output without a rate, or counts that are no whole numbers.
 */
export function costOf({ standard, services }: FlatPrice, amounts: Amounts): number | null {
  const { input, output } = amounts
  if (!isCount(input) || !isCount(output)) return null
  const tariff =
    amounts.serviceTier === undefined && amounts.speed === undefined ? standard : tariffFor(amounts, standard, services)
  if (!tariff) return null
  const rates = input > tariff.above ? tariff.long : tariff.base
  if (rates.output === undefined && output > 0) return null
  // A part beyond the whole is cut: a provider that counts so has billed no more than the whole.
  const cached = part(amounts.cached, input)
  const written = part(amounts.cacheWrite, input - cached)
  const writtenLong = part(amounts.cacheWriteLong, input - cached - written)
  const audio = part(amounts.audioInput, input - cached - written - writtenLong)
  const plain = input - cached - written - writtenLong - audio
  const reasoning = part(amounts.reasoning, output)
  const audioOutput = part(amounts.audioOutput, output - reasoning)
  const text = output - reasoning - audioOutput
  const terms = [
    [plain, rates.input],
    [cached, rates.cached],
    [written, rates.cacheWrite],
    [writtenLong, rates.cacheWriteLong],
    [audio, rates.audioInput],
    [text, rates.output ?? 0],
    [reasoning, rates.reasoning],
    [audioOutput, rates.audioOutput],
  ] as const
  let sum = 0
  for (const [count, rate] of terms) sum += count * rate
  // All terms are at least 0, so that a sum up to 2^53 means that each step was exact: nearly 9,007 USD.
  if (sum <= Number.MAX_SAFE_INTEGER) return nanoOf(sum)
  const exact = exactSum(terms)
  return exact <= Number.MAX_SAFE_INTEGER ? Number(exact) : null
}

/** The most that an attempt can cost in nano-USD, up to 2^53 - 1; null where the output has no rate. */
export function mostFor({ standard, services }: FlatPrice, input: number, output: number): number | null {
  if (Number.isNaN(input) || Number.isNaN(output)) return null
  let most = mostOf(standard, input, output)
  if (services.size > 0)
    for (const tariff of services.values()) {
      const other = mostOf(tariff, input, output)
      if (most !== null && (other === null || other > most)) most = other
    }
  return most
}

/** An input is estimated from its bytes, which may be half of the truth: rates for long inputs count from half of it. */
const estimateError = 2

function mostOf({ base, above, long }: FlatTariff, input: number, output: number): number | null {
  const usual = highest(base, input, output)
  if (usual === null || input * estimateError <= above) return usual
  const other = highest(long, input, output)
  return other === null ? null : Math.max(usual, other)
}

function highest({ mostInput, mostOutput }: FlatRates, input: number, output: number): number | null {
  if (mostOutput === undefined && output > 0) return null
  const tokens = [Math.max(0, Math.ceil(input)), Math.max(0, Math.ceil(output))] as const
  const sum = tokens[0] * mostInput + tokens[1] * (mostOutput ?? 0)
  if (sum <= Number.MAX_SAFE_INTEGER) return Math.ceil(sum / 1000)
  const bounded = tokens.map((count) => Math.min(count, Number.MAX_SAFE_INTEGER)) as [number, number]
  const exact = exactSum([
    [bounded[0], mostInput],
    [bounded[1], mostOutput ?? 0],
  ])
  return exact < Number.MAX_SAFE_INTEGER ? Number(exact) + 1 : Number.MAX_SAFE_INTEGER
}

function tariffFor(
  { serviceTier, speed }: Amounts,
  standard: FlatTariff,
  services: ReadonlyMap<string, FlatTariff>,
): FlatTariff | undefined {
  const tier = serviceNamed(serviceTier)
  const pace = serviceNamed(speed)
  if (tier === undefined) return pace === undefined ? standard : services.get(pace)
  return pace === undefined ? services.get(tier) : undefined
}

/** The service of a name as providers write it, `SERVICE_TIER_FLEX` too; undefined for the normal one. */
function serviceNamed(name: string | undefined): string | undefined {
  if (name === undefined || standardServices.has(name)) return undefined
  const plain = name.toLowerCase().replace(/^service_tier_/, '')
  return standardServices.has(plain) ? undefined : plain
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

/** A part of a whole: 0 where it is not reported or no count, and never more than the whole. */
function part(value: number | undefined, whole: number): number {
  if (value === undefined || !(value > 0) || !Number.isInteger(value)) return 0
  return value < whole ? value : whole
}

/** Nano-USD of a whole number of 10^-12 USD up to 2^53, rounded half up. A quotient might be rounded; a remainder is exact. */
function nanoOf(pico: number): number {
  const rest = pico % 1000
  return (pico - rest) / 1000 + (rest >= 500 ? 1 : 0)
}

/** The sum of products beyond 2^53, in nano-USD, rounded half up. */
function exactSum(terms: readonly (readonly [count: number, rate: number])[]): bigint {
  const pico = terms.reduce((sum, [count, rate]) => sum + BigInt(count) * BigInt(rate), 0n)
  return (pico + 500n) / 1000n
}
