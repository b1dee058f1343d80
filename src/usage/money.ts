/** Money as whole nano-USD (10^-9 USD); rates are finer, see prices/rate-text.ts. A million dollars are 10^15. */
export const nanoPerUsd = 1_000_000_000

/** The largest amount, a million USD: more is a mistake. */
export const mostNano = 1_000_000 * nanoPerUsd

/** An amount in USD as nano-USD, from a text such as `20.50` or a number; undefined for anything but 0 to a million. */
export function nanoOfUsd(amount: string | number): number | undefined {
  if (typeof amount === 'number') {
    const nano = Math.round(amount * nanoPerUsd)
    // An amount that is too small to be one is no budget of nothing.
    const isAmount = nano > 0 ? nano <= mostNano : amount === 0
    return isAmount ? nano : undefined
  }
  const [, whole, fraction = ''] = /^(\d{1,7})(?:\.(\d{1,9}))?$/.exec(amount.trim()) ?? []
  if (whole === undefined) return undefined
  const nano = Number(whole) * nanoPerUsd + Number(fraction.padEnd(9, '0'))
  return nano <= mostNano ? nano : undefined
}

/** Nano-USD (10^-9) as a decimal text in USD without needless zeros: 1500 is `0.0000015`. */
export function usdOf(nano: number): string {
  const sign = nano < 0 ? '-' : ''
  const digits = String(Math.abs(nano)).padStart(10, '0')
  const whole = digits.slice(0, -9)
  const rest = digits.slice(-9).replace(/(?<!0)0+$/, '')
  return rest === '' ? `${sign}${whole}` : `${sign}${whole}.${rest}`
}
