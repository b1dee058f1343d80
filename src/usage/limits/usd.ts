/** Nano-USD, 10^-9 USD, are whole numbers everywhere; a million dollars are 10^15, and nine times as much is exact. */
const nanoPerUsd = 1_000_000_000

/** The largest budget: nano-USD. */
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
