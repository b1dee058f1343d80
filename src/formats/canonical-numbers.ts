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
  const digits = Math.round(size * scale)
  if (digits / scale !== size || digits >= 1e9) return 0
  let at = start
  if (value < 0) buffer[at++] = 0x2d
  buffer[at++] = 0x30
  buffer[at++] = 0x2e
  for (; zeros > 0; zeros--) buffer[at++] = 0x30
  const millions = (digits / 1e6) | 0
  const rest = digits - millions * 1e6
  const thousands = (rest / 1e3) | 0
  writeThree(buffer, at, millions)
  writeThree(buffer, at + 3, thousands)
  writeThree(buffer, at + 6, rest - thousands * 1e3)
  at += 9
  while (buffer[at - 1] === 0x30) at--
  return at
}

/** The digits of the numbers below a thousand: three divisions for a number instead of nine. */
const threes = Buffer.from(
  Array.from({ length: 1000 }, (_, value) => String(value).padStart(3, '0')).join(''),
  'latin1',
)

function writeThree(buffer: Buffer, at: number, value: number): void {
  buffer[at] = threes[3 * value]!
  buffer[at + 1] = threes[3 * value + 1]!
  buffer[at + 2] = threes[3 * value + 2]!
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
