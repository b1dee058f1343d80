/** A Fourier transform of one size, its tables computed once. */
export interface FourierTransform {
  readonly size: number
  /** Transforms in place: X[k] = Σ x[n] exp(-2πi kn/size). Call with the parts swapped for the inverse, unscaled. */
  transform(real: Float64Array, imaginary: Float64Array): void
}

/**
 * The transform of Cooley and Tukey (1965), four values at a time so that memory is passed half as often as two at a
 * time; the size must be a power of two.
 */
export function createFourierTransform(size: number): FourierTransform {
  const cosines = Float64Array.from({ length: size }, (_, index) => Math.cos((2 * Math.PI * index) / size))
  const sines = Float64Array.from({ length: size }, (_, index) => Math.sin((2 * Math.PI * index) / size))
  const reversed = bitReversal(size)
  const odd = Math.log2(size) % 2 === 1

  return {
    size,
    transform(real, imaginary) {
      reorder(real, imaginary, reversed)
      if (odd) pairs(real, imaginary)
      for (let quarter = odd ? 2 : 1; quarter < size; quarter *= 4) fours(real, imaginary, quarter, cosines, sines)
    },
  }
}

function reorder(real: Float64Array, imaginary: Float64Array, reversed: Uint32Array): void {
  for (let index = 0; index < reversed.length; index++) {
    const other = reversed[index]!
    if (other <= index) continue
    const re = real[index]!
    real[index] = real[other]!
    real[other] = re
    const im = imaginary[index]!
    imaginary[index] = imaginary[other]!
    imaginary[other] = im
  }
}

/** The first stage where the number of stages is odd: its factors are one. */
function pairs(real: Float64Array, imaginary: Float64Array): void {
  for (let low = 0; low < real.length; low += 2) {
    const re = real[low + 1]!
    const im = imaginary[low + 1]!
    real[low + 1] = real[low]! - re
    imaginary[low + 1] = imaginary[low]! - im
    real[low]! += re
    imaginary[low]! += im
  }
}

/** Two stages in one: transforms of `quarter` values become transforms of four times as many. */
function fours(
  real: Float64Array,
  imaginary: Float64Array,
  quarter: number,
  cosines: Float64Array,
  sines: Float64Array,
): void {
  const size = real.length
  const stride = size / (4 * quarter)
  for (let offset = 0; offset < quarter; offset++) {
    // exp(-2πi k/n) for k = 1, 2 and 3 times the offset. In bit-reversed order the second quarter holds the even half.
    const c1 = cosines[offset * stride]!
    const s1 = sines[offset * stride]!
    const c2 = cosines[2 * offset * stride]!
    const s2 = sines[2 * offset * stride]!
    const c3 = cosines[3 * offset * stride]!
    const s3 = sines[3 * offset * stride]!
    for (let a = offset; a < size; a += 4 * quarter) {
      const b = a + quarter
      const c = b + quarter
      const d = c + quarter
      const bRe = real[b]! * c2 + imaginary[b]! * s2
      const bIm = imaginary[b]! * c2 - real[b]! * s2
      const cRe = real[c]! * c1 + imaginary[c]! * s1
      const cIm = imaginary[c]! * c1 - real[c]! * s1
      const dRe = real[d]! * c3 + imaginary[d]! * s3
      const dIm = imaginary[d]! * c3 - real[d]! * s3
      const sumRe = real[a]! + bRe
      const sumIm = imaginary[a]! + bIm
      const differenceRe = real[a]! - bRe
      const differenceIm = imaginary[a]! - bIm
      real[a] = sumRe + cRe + dRe
      imaginary[a] = sumIm + cIm + dIm
      real[c] = sumRe - cRe - dRe
      imaginary[c] = sumIm - cIm - dIm
      real[b] = differenceRe + cIm - dIm
      imaginary[b] = differenceIm - cRe + dRe
      real[d] = differenceRe - cIm + dIm
      imaginary[d] = differenceIm + cRe - dRe
    }
  }
}

function bitReversal(size: number): Uint32Array {
  const table = new Uint32Array(size)
  for (let index = 1; index < size; index++) table[index] = (table[index >> 1]! >> 1) | (index & 1 ? size >> 1 : 0)
  return table
}
