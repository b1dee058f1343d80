/** A Fourier transform of one size, its tables computed once. */
export interface FourierTransform {
  readonly size: number
  /** Transforms in place: X[k] = Σ x[n] exp(-2πi kn/size). Call with the parts swapped for the inverse, unscaled. */
  transform(real: Float64Array, imaginary: Float64Array): void
}

/** The radix-2 transform of Cooley and Tukey (1965); the size must be a power of two. */
export function createFourierTransform(size: number): FourierTransform {
  const cosines = new Float64Array(size / 2)
  const sines = new Float64Array(size / 2)
  for (let index = 0; index < size / 2; index++) {
    cosines[index] = Math.cos((2 * Math.PI * index) / size)
    sines[index] = Math.sin((2 * Math.PI * index) / size)
  }
  const reversed = bitReversal(size)

  return {
    size,
    transform(real, imaginary) {
      for (let index = 0; index < size; index++) {
        const other = reversed[index]!
        if (other <= index) continue
        const re = real[index]!
        real[index] = real[other]!
        real[other] = re
        const im = imaginary[index]!
        imaginary[index] = imaginary[other]!
        imaginary[other] = im
      }
      // The first stage has no factors but one.
      for (let low = 0; low < size; low += 2) {
        const re = real[low + 1]!
        const im = imaginary[low + 1]!
        real[low + 1] = real[low]! - re
        imaginary[low + 1] = imaginary[low]! - im
        real[low]! += re
        imaginary[low]! += im
      }
      for (let half = 2; half < size; half *= 2) {
        const stride = size / (2 * half)
        for (let start = 0; start < size; start += 2 * half)
          for (let offset = 0; offset < half; offset++) {
            const cosine = cosines[offset * stride]!
            const sine = sines[offset * stride]!
            const low = start + offset
            const high = low + half
            const re = real[high]! * cosine + imaginary[high]! * sine
            const im = imaginary[high]! * cosine - real[high]! * sine
            real[high] = real[low]! - re
            imaginary[high] = imaginary[low]! - im
            real[low] = real[low]! + re
            imaginary[low] = imaginary[low]! + im
          }
      }
    },
  }
}

function bitReversal(size: number): Uint32Array {
  const table = new Uint32Array(size)
  for (let index = 1; index < size; index++) table[index] = (table[index >> 1]! >> 1) | (index & 1 ? size >> 1 : 0)
  return table
}
