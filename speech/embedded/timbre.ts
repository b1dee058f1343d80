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

/** Colours the samples from one index up to another, the rest being context; both are multiples of `timbreGrid`, or the end. */
export type Colouring = (samples: Float32Array, from: number, to: number) => Float32Array

/** Two frames lie on each step of this grid: blocks that start on it fit together without a seam. */
export const timbreGrid = 2 * hop

/**
 * Moves the formants of 16 kHz speech and colours its spectrum, pitch and timing unchanged: every frame is filtered with
 * the ratio of its warped cepstral envelope to its own (Oppenheim 1969, "Speech analysis-synthesis based on homomorphic
 * filtering"). Frames are real, so two of them share each complex transform.
 */
export function createColouring({ formants, equaliser }: Timbre): Colouring {
  if (formants === 1 && equaliser.every((gain) => gain === 0)) return (samples, from, to) => samples.slice(from, to)
  const filter = createFilter(formants, equaliserCurve(equaliser))
  const even = new Float64Array(frameSize)
  const odd = new Float64Array(frameSize)

  return (samples, from, to) => {
    const output = new Float64Array(to - from + 3 * frameSize)
    // Every frame that reaches into the block, the first one from a whole frame before it.
    for (let start = from - frameSize; start < to; start += 2 * hop) {
      for (let index = 0; index < frameSize; index++) {
        even[index] = (samples[start + index] ?? 0) * window[index]!
        odd[index] = (samples[start + hop + index] ?? 0) * window[index]!
      }
      filter(even, odd)
      const at = start - from + frameSize
      for (let index = 0; index < frameSize; index++) {
        const weight = window[index]! / overlapSum
        output[at + index]! += even[index]! * weight
        output[at + hop + index]! += odd[index]! * weight
      }
    }
    return Float32Array.from(output.subarray(frameSize, frameSize + to - from))
  }
}

const half = frameSize / 2

/**
 * Filters two frames in place, the second one riding as the imaginary part of the first. They lie 8 ms apart and share
 * one envelope, so that one real gain per frequency serves both.
 */
function createFilter(formants: number, colour: Float64Array): (even: Float64Array, odd: Float64Array) => void {
  const envelope = new Float64Array(frameSize)
  const rest = new Float64Array(frameSize)

  return (even, odd) => {
    fourier.transform(even, odd)
    if (formants !== 1) spectralEnvelope(even, odd, envelope, rest)
    for (let bin = 0; bin <= half; bin++) {
      const warped = formants === 1 ? 0 : interpolate(envelope, bin / formants, half) - envelope[bin]!
      // The transform back adds the size as a factor.
      const gain = Math.exp(Math.max(-gainLimit, Math.min(gainLimit, warped)) + colour[bin]!) / frameSize
      even[bin]! *= gain
      odd[bin]! *= gain
      if (bin === 0 || bin === half) continue
      even[frameSize - bin]! *= gain
      odd[frameSize - bin]! *= gain
    }
    // With its parts swapped the transform is its own inverse.
    fourier.transform(odd, even)
  }
}

/** The natural logarithm of the mean envelope of two packed frames, by low-pass liftering their cepstrum. */
function spectralEnvelope(
  real: Float64Array,
  imaginary: Float64Array,
  envelope: Float64Array,
  rest: Float64Array,
): void {
  for (let bin = 0; bin <= half; bin++) {
    const mirror = (frameSize - bin) % frameSize
    // At a frequency and its mirror the cross terms of the two frames cancel: the sum is twice that of their powers.
    const power = real[bin]! ** 2 + imaginary[bin]! ** 2 + real[mirror]! ** 2 + imaginary[mirror]! ** 2
    envelope[bin] = 0.5 * Math.log(power / 4 + 1e-9)
    envelope[mirror] = envelope[bin]!
  }
  // The logarithm of a spectrum is even and real, and so is its cepstrum: transforming twice comes back.
  rest.fill(0)
  fourier.transform(envelope, rest)
  for (let quefrency = 0; quefrency < frameSize; quefrency++)
    envelope[quefrency]! *= Math.min(quefrency, frameSize - quefrency) > envelopeQuefrency ? 0 : 1 / frameSize
  rest.fill(0)
  fourier.transform(envelope, rest)
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
