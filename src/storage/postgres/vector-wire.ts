/** Bytes before the components: their number and zero, two bytes each. */
const header = 4

/**
 * A vector in pgvector's binary format, in which it is sent, and kept where the extension is not there: big-endian float32
 * behind a header. The driver sends a Buffer as it is, so that no component becomes text.
 */
export function writeVector(values: Float32Array): Buffer {
  const bytes = Buffer.alloc(header + values.byteLength)
  bytes.writeUInt16BE(values.length, 0)
  Buffer.from(values.buffer, values.byteOffset, values.byteLength).copy(bytes, header)
  bytes.subarray(header).swap32()
  return bytes
}

/** The components of a vector in that format. */
export function readVector(bytes: Buffer): Float32Array {
  // A copy begins at a multiple of four.
  const components = new Uint8Array(bytes.subarray(header))
  Buffer.from(components.buffer).swap32()
  return new Float32Array(components.buffer)
}

/** The cosine of two unit vectors, of which one is in that format. */
export function cosineOf(bytes: Buffer, query: Float32Array): number {
  const values = readVector(bytes)
  let sum = 0
  for (let at = 0; at < query.length; at++) sum += values[at]! * query[at]!
  return sum
}
