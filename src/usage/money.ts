/** Nano-USD (10^-9) as a decimal text in USD without needless zeros: 1500 is `0.0000015`. */
export function usdOf(nano: number): string {
  const sign = nano < 0 ? '-' : ''
  const digits = String(Math.abs(nano)).padStart(10, '0')
  const whole = digits.slice(0, -9)
  const rest = digits.slice(-9).replace(/0+$/, '')
  return rest === '' ? `${sign}${whole}` : `${sign}${whole}.${rest}`
}
