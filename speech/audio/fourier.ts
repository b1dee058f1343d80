/** The Fourier transform of Cooley and Tukey (1965), its tables computed once; the size must be a power of two. */
export function createFourierTransform(size: number) {
  const cosines = Float64Array.from({ length: size }, (_, index) => Math.cos((2 * Math.PI * index) / size))
  const sines = Float64Array.from({ length: size }, (_, index) => Math.sin((2 * Math.PI * index) / size))
  const reversed = bitReversal(size)
  return {
    /** Transforms in place: X[k] = Σ x[n] exp(-2πi kn/size). Call with the parts swapped for the inverse, unscaled. */
    transform(real: Float64Array, imaginary: Float64Array) {
      for (const values of [real, imaginary]) values.set(reversed.map((index) => values[index]!))
      for (let half = 1; half < size; half *= 2) join(real, imaginary, half)
    },
  }

  /** Transforms of `half` values become transforms of twice as many. */
  function join(real: Float64Array, imaginary: Float64Array, half: number): void {
    const stride = size / (2 * half)
    for (let offset = 0; offset < half; offset++) {
      const [cosine, sine] = [cosines[offset * stride]!, sines[offset * stride]!]
      for (let even = offset; even < size; even += 2 * half) {
        const odd = even + half
        const re = real[odd]! * cosine + imaginary[odd]! * sine
        const im = imaginary[odd]! * cosine - real[odd]! * sine
        real[odd] = real[even]! - re
        imaginary[odd] = imaginary[even]! - im
        real[even]! += re
        imaginary[even]! += im
      }
    }
  }
}

/** The index whose bits are those of another one in the opposite order, for each. */
function bitReversal(size: number): Float64Array {
  const table = new Float64Array(size)
  for (let index = 1; index < size; index++) table[index] = (table[index >> 1]! >> 1) | (index & 1 ? size >> 1 : 0)
  return table
}
