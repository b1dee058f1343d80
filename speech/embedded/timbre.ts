import { createFourierTransform } from './fourier.ts'

/** 32 ms at 16 kHz: long enough to separate the harmonics of a low voice, short enough for a plosive. */
const frameSize = 512
const hop = frameSize / 4
/** The spectral envelope is what the first 2 ms of the cepstrum hold; a voice's pitch lies above it. */
const envelopeQuefrency = 32
/** No frequency is raised or lowered by more: beyond it noise is amplified and formants whistle. */
const gainLimit = Math.log(10 ** (12 / 20))

const fourier = createFourierTransform(frameSize)
const window = Float64Array.from({ length: frameSize }, (_, index) =>
  Math.sqrt(0.5 - 0.5 * Math.cos((2 * Math.PI * index) / frameSize)),
)
/** Overlapping four times, the squared windows add up to this. */
const overlapSum = 2

export interface Timbre {
  /** Formants move to this many times their frequency; pitch stays. */
  readonly formants: number
  /** Decibels to add, from 0 Hz to half the sample rate in equal steps; empty for none. */
  readonly equaliser: readonly number[]
}

/**
 * Moves the formants of 16 kHz speech and colours its spectrum, pitch and timing unchanged: every frame is filtered with
 * the ratio of its warped cepstral envelope to its own (Oppenheim 1969, "Speech analysis-synthesis based on homomorphic
 * filtering"). Frames are real, so two of them share each complex transform.
 */
export function applyTimbre(samples: Float32Array, { formants, equaliser }: Timbre): Float32Array {
  if (formants === 1 && equaliser.every((gain) => gain === 0)) return samples
  const filter = createFilter(formants, equaliserCurve(equaliser))
  const padded = new Float64Array(samples.length + 2 * frameSize + hop)
  padded.set(samples, frameSize)
  const output = new Float64Array(padded.length)
  const even = new Float64Array(frameSize)
  const odd = new Float64Array(frameSize)

  for (let start = 0; start + frameSize + hop <= padded.length; start += 2 * hop) {
    for (let index = 0; index < frameSize; index++) {
      even[index] = padded[start + index]! * window[index]!
      odd[index] = padded[start + hop + index]! * window[index]!
    }
    filter(even, odd)
    for (let index = 0; index < frameSize; index++) {
      const weight = window[index]! / overlapSum
      output[start + index]! += even[index]! * weight
      output[start + hop + index]! += odd[index]! * weight
    }
  }
  return Float32Array.from(output.subarray(frameSize, frameSize + samples.length))
}

const half = frameSize / 2

/** Filters two frames in place, the second one riding as the imaginary part of the first. */
function createFilter(formants: number, colour: Float64Array): (even: Float64Array, odd: Float64Array) => void {
  const envelopes = [new Float64Array(frameSize), new Float64Array(frameSize)] as const
  const gains = [new Float64Array(half + 1), new Float64Array(half + 1)] as const

  return (even, odd) => {
    fourier.transform(even, odd)
    if (formants !== 1) spectralEnvelopes(even, odd, envelopes)
    for (let bin = 0; bin <= half; bin++)
      for (let frame = 0; frame < 2; frame++) {
        const envelope = envelopes[frame]!
        const warped = formants === 1 ? 0 : interpolate(envelope, bin / formants, half) - envelope[bin]!
        gains[frame]![bin] = Math.exp(Math.max(-gainLimit, Math.min(gainLimit, warped)) + colour[bin]!)
      }
    applyGains(even, odd, gains)
    // With its parts swapped the transform is its own inverse but for the size.
    fourier.transform(odd, even)
    for (let index = 0; index < frameSize; index++) {
      even[index]! /= frameSize
      odd[index]! /= frameSize
    }
  }
}

/**
 * Two real frames transformed as one complex one: the even part belongs to the first, the odd part to the second.
 * Each part gets its own gain.
 */
function applyGains(real: Float64Array, imaginary: Float64Array, gains: readonly [Float64Array, Float64Array]): void {
  for (let bin = 0; bin <= half; bin++) {
    const mirror = (frameSize - bin) % frameSize
    const [first, second] = [0.5 * gains[0][bin]!, 0.5 * gains[1][bin]!]
    const [re, im, mirrorRe, mirrorIm] = [real[bin]!, imaginary[bin]!, real[mirror]!, imaginary[mirror]!]
    const evenRe = (re + mirrorRe) * first
    const evenIm = (im - mirrorIm) * first
    const oddRe = (re - mirrorRe) * second
    const oddIm = (im + mirrorIm) * second
    real[bin] = evenRe + oddRe
    imaginary[bin] = evenIm + oddIm
    real[mirror] = evenRe - oddRe
    imaginary[mirror] = oddIm - evenIm
  }
}

/** The natural logarithms of the envelopes of two packed frames, by low-pass liftering their cepstra. */
function spectralEnvelopes(
  real: Float64Array,
  imaginary: Float64Array,
  envelopes: readonly [Float64Array, Float64Array],
): void {
  const [first, second] = envelopes
  for (let bin = 0; bin < frameSize; bin++) {
    const mirror = (frameSize - bin) % frameSize
    const [re, im, mirrorRe, mirrorIm] = [real[bin]!, imaginary[bin]!, real[mirror]!, imaginary[mirror]!]
    first[bin] = logPower(re + mirrorRe, im - mirrorIm)
    second[bin] = logPower(im + mirrorIm, re - mirrorRe)
  }
  // Logarithms of spectra are even and real, and so are their cepstra: again two at a time.
  fourier.transform(first, second)
  for (let quefrency = 0; quefrency < frameSize; quefrency++) {
    const kept = Math.min(quefrency, frameSize - quefrency) > envelopeQuefrency ? 0 : 1 / frameSize
    first[quefrency]! *= kept
    second[quefrency]! *= kept
  }
  fourier.transform(first, second)
}

/** Twice the logarithm of a magnitude, halved; the floor keeps silence finite. */
function logPower(re: number, im: number): number {
  return 0.5 * Math.log(0.25 * (re * re + im * im) + 1e-9)
}

/** The equaliser as natural logarithms of gains, one per frequency bin. */
function equaliserCurve(decibels: readonly number[]): Float64Array {
  const points = Float64Array.from(decibels.length > 0 ? decibels : [0])
  return Float64Array.from(
    { length: half + 1 },
    (_, bin) => (interpolate(points, (bin / half) * (points.length - 1), points.length - 1) * Math.LN10) / 20,
  )
}

/** Linear interpolation between the values up to `last`; the ends hold beyond the ends. */
function interpolate(values: Float64Array, position: number, last: number): number {
  const clamped = Math.max(0, Math.min(last, position))
  const below = Math.floor(clamped)
  const low = values[below]!
  return below === last ? low : low + (clamped - below) * (values[below + 1]! - low)
}
