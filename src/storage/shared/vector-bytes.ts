/**
 * The signs of a vector's components, eight to a byte. The distance of two sketches grows with the angle between their vectors
 * (Charikar, "Similarity estimation techniques from rounding algorithms", 2002).
 */
export function sketchOf(values: Float32Array): Buffer {
  const bits = Buffer.alloc(Math.ceil(values.length / 8))
  for (let at = 0; at < values.length; at++) if (values[at]! > 0) bits[at >> 3]! |= 1 << (at & 7)
  return bits
}

/** Little-endian float32, as sqlite-vec reads it. */
export function bytesOf(values: Float32Array): Buffer {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength)
}

/** The numbers of a stored vector. A copy: the database's buffer need not be aligned. */
export function valuesOf(bytes: Buffer): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer)
}

/**
 * Components up to which a scope's vectors are all compared, half a millisecond's work. Where there are more, the nearest by
 * their sketches are compared: an exact scan of the choice of an inexact one.
 */
export const exactComponents = 2 ** 19

/** How many of the nearest by sketch are compared exactly: a few times the limit, and a share of a large scope. */
export function sketched(limit: number, memories: number): number {
  return 3 * limit + (memories >> 6)
}
