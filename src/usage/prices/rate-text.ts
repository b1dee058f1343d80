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
