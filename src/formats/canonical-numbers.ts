/** The longest text of a double by ECMAScript's rules, `-2.2250738585072014e-308` and the like, with its comma. */
const longest = 26

/**
 * A list of finite numbers as canonical JSON: the text that `JSON.stringify` gives, about five times as fast for
 * embeddings, which are most of a package. Numbers between 0.0001 and 1 with at most nine digits, as a
 * package writes its vectors, are written by whole-number arithmetic; all others by the engine.
 */
export function canonicalNumbers(values: readonly number[]): string {
  const buffer = Buffer.allocUnsafe(values.length * longest + 2)
  let at = 0
  buffer[at++] = 0x5b
  for (let index = 0; index < values.length; index++) {
    if (index > 0) buffer[at++] = 0x2c
    const value = values[index]!
    const end = writeShort(buffer, at, value)
    at = end > 0 ? end : at + buffer.write(String(value), at, 'latin1')
  }
  buffer[at++] = 0x5d
  return buffer.toString('latin1', 0, at)
}

/**
 * Writes a number that is n / 10^k with n below 10^9; returns where its text ends, or 0 for any other number.
 * Two decimals of at most 15 digits never share a double, so the digits of n are the shortest ones, which ECMAScript asks for.
 */
function writeShort(buffer: Buffer, start: number, value: number): number {
  const size = value < 0 ? -value : value
  if (!(size >= 1e-4 && size < 1)) return 0
  let zeros = 0
  let scale = 1e9
  for (; size < 1 / 10 ** (zeros + 1); zeros++) scale *= 10
  let digits = Math.round(size * scale)
  if (digits / scale !== size || digits >= 1e9) return 0
  let at = start
  if (value < 0) buffer[at++] = 0x2d
  buffer[at++] = 0x30
  buffer[at++] = 0x2e
  for (; zeros > 0; zeros--) buffer[at++] = 0x30
  let count = 9
  for (; digits % 10 === 0; count--) digits /= 10
  for (let place = at + count - 1; place >= at; place--) {
    const rest = (digits / 10) | 0
    buffer[place] = 0x30 + digits - rest * 10
    digits = rest
  }
  return at + count
}

/**
 * The double with the fewest digits, from six to nine of them, that is this 32-bit float again when it is rounded to one:
 * nine significant digits tell any two of them apart, and six survive the way there and back, so that 0.1 stays 0.1
 * (IEEE 754; FLT_DECIMAL_DIG and FLT_DIG in C). Canonical JSON has one zero only.
 */
export function shortDouble(value: number): number {
  const size = value < 0 ? -value : value
  if (size >= 1e-4 && size < 1) {
    let scale = 1e6
    for (let bound = 0.1; size < bound; bound /= 10) scale *= 10
    for (let digits = 6; digits <= 9; digits++, scale *= 10) {
      const short = Math.round(value * scale) / scale
      if (Math.fround(short) === value) return short
    }
  }
  if (value === 0) return 0
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return short
  }
  return Number(value.toPrecision(9))
}
