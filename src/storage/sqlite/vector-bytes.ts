/**
 * The signs of a vector's components, eight to a byte. The distance of two sketches grows with the angle between their vectors
 * (Charikar, "Similarity estimation techniques from rounding algorithms", 2002).
 */
export function sketchOf(values: Float32Array): Buffer {
  const bits = Buffer.alloc(Math.ceil(values.length / 8))
  values.forEach((value, at) => {
    if (value > 0) bits[at >> 3]! |= 1 << (at & 7)
  })
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
