/**
 * Rates as whole numbers. A rate is 10^-12 USD per token, which is the same number as 10^-6 USD per million tokens: the
 * decimal text that providers print, USD per million tokens, with six decimals. A cost is nano-USD, 10^-9.
 */

/** USD per million tokens: the dearest known model costs 600 (o1-pro, 2025), so that more is a wrong unit. */
const dearestRate = 1_000_000

const rateRule = /^(\d{1,7})(?:\.(\d{1,6}))?$/

/** The rate of a text such as `2.5`, USD per million tokens; undefined for other texts, and finer or dearer rates. */
export function rateOf(text: string): number | undefined {
  const [, whole, fraction = ''] = rateRule.exec(text) ?? []
  if (whole === undefined) return undefined
  const rate = Number(whole + fraction.padEnd(6, '0'))
  return rate <= dearestRate * 1e6 ? rate : undefined
}

/** A rate as the text that `rateOf` reads, without needless zeros. */
export function rateText(rate: number): string {
  const digits = String(rate).padStart(7, '0')
  const fraction = digits.slice(-6).replace(/(?<!0)0+$/, '')
  return digits.slice(0, -6) + (fraction && `.${fraction}`)
}

/** A decimal number of at least 0, as JSON writes one, in units of 10^-12, rounded half up; undefined for anything else. */
function inPico(text: string): { readonly units: number; readonly isExact: boolean } | undefined {
  const [, whole, fraction = '', exponent = '0'] = /^(\d{1,30})(?:\.(\d{1,30}))?(?:e([+-]?\d{1,3}))?$/i.exec(text) ?? []
  if (whole === undefined) return undefined
  const shift = Number(exponent) - fraction.length + 12
  if (Math.abs(shift) > 100) return undefined
  const value = BigInt(whole + fraction)
  if (shift >= 0) return safe(value * 10n ** BigInt(shift), true)
  const divisor = 10n ** BigInt(-shift)
  return safe((value + divisor / 2n) / divisor, value % divisor === 0n)
}

function safe(units: bigint, isExact: boolean) {
  return units <= BigInt(Number.MAX_SAFE_INTEGER) ? { units: Number(units), isExact } : undefined
}

/**
 * The rate of USD per token, as a text or number of a provider's list. `isExact` is false where it had to be rounded,
 * half up, to 10^-12 USD. Undefined for an invalid price, also for a negative one.
 */
export function ratePerToken(usd: unknown): { readonly rate: number; readonly isExact: boolean } | undefined {
  const found = typeof usd === 'string' || typeof usd === 'number' ? inPico(String(usd)) : undefined
  if (!found || found.units > dearestRate * 1e6) return undefined
  // A price must not be rounded to none.
  if (found.units === 0 && !found.isExact) return undefined
  return { rate: found.units, isExact: found.isExact }
}
