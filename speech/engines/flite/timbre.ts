import { createFourierTransform } from '../../audio/fourier.ts'

/** 32 ms at 16 kHz: long enough to separate the harmonics of a low voice, short enough for a plosive. */
const frameSize = 512
const half = frameSize / 2
const hop = half
/** The spectral envelope is in the first 2 ms of the cepstrum, in samples; a voice's pitch lies above it. */
const envelopeQuefrency = 32
/** No frequency is raised or lowered by more: beyond it noise is amplified and formants whistle. */
const gainLimit = Math.log(10 ** (12 / 20))

const fourier = createFourierTransform(frameSize)
/** Overlapping twice, the squares of this window add up to one. */
const window = Float64Array.from({ length: frameSize }, (_, index) =>
  Math.sqrt(0.5 - 0.5 * Math.cos((2 * Math.PI * index) / frameSize)),
)

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
  const early = new Float64Array(frameSize)
  const late = new Float64Array(frameSize)

  return (samples, from, to) => {
    const output = new Float64Array(to - from + 3 * frameSize)
    // Every frame that reaches into the block, the first one from a whole frame before it.
    for (let start = from - frameSize; start < to; start += timbreGrid) {
      takeFrame(samples, start, early)
      takeFrame(samples, start + hop, late)
      filter(early, late)
      const at = start - from + frameSize
      for (let index = 0; index < frameSize; index++) {
        output[at + index]! += early[index]! * window[index]!
        output[at + hop + index]! += late[index]! * window[index]!
      }
    }
    return Float32Array.from(output.subarray(frameSize, frameSize + to - from))
  }
}

/** The windowed frame at a place; before the first sample and after the last one there is silence. */
function takeFrame(samples: Float32Array, start: number, frame: Float64Array): void {
  const first = Math.max(0, -start)
  const end = Math.min(frameSize, samples.length - start)
  frame.fill(0, 0, Math.min(first, frameSize))
  for (let index = first; index < end; index++) frame[index] = samples[start + index]! * window[index]!
  frame.fill(0, Math.max(0, end))
}

/**
 * Filters two frames in place, the second one riding as the imaginary part of the first: the spectrum of a real frame is
 * the even part of the packed one, that of an imaginary frame the odd part.
 */
function createFilter(formants: number, colour: Float64Array): (early: Float64Array, late: Float64Array) => void {
  const earlyGain = new Float64Array(frameSize)
  const lateGain = new Float64Array(frameSize)

  return (early, late) => {
    fourier.transform(early, late)
    if (formants !== 1) logSpectra(early, late, earlyGain, lateGain)
    if (formants !== 1) keepEnvelopes(earlyGain, lateGain)
    for (let bin = 0; bin <= half; bin++) {
      const mirror = (frameSize - bin) % frameSize
      const one = gainAt(earlyGain, bin, formants, colour)
      const other = gainAt(lateGain, bin, formants, colour)
      const sum = (one + other) / 2
      const difference = (one - other) / 2
      const re = early[bin]!
      const im = late[bin]!
      const mirrorRe = early[mirror]!
      const mirrorIm = late[mirror]!
      // Each part times its own gain: (g + h)/2 of the bin and (g - h)/2 of its mirror's conjugate.
      early[bin] = sum * re + difference * mirrorRe
      late[bin] = sum * im - difference * mirrorIm
      early[mirror] = sum * mirrorRe + difference * re
      late[mirror] = sum * mirrorIm - difference * im
    }
    // With its parts swapped the transform is its own inverse.
    fourier.transform(late, early)
  }
}

/** The gain of a frequency by a frame's envelope; the transform back adds the size as a factor. */
function gainAt(envelope: Float64Array, bin: number, formants: number, colour: Float64Array): number {
  const warped = formants === 1 ? 0 : interpolate(envelope, bin / formants, half) - envelope[bin]!
  return Math.exp(Math.max(-gainLimit, Math.min(gainLimit, warped)) + colour[bin]!) / frameSize
}

/** The natural logarithms of the magnitudes of two packed frames. */
function logSpectra(real: Float64Array, imaginary: Float64Array, one: Float64Array, other: Float64Array): void {
  for (let bin = 0; bin <= half; bin++) {
    const mirror = (frameSize - bin) % frameSize
    const evenRe = real[bin]! + real[mirror]!
    const evenIm = imaginary[bin]! - imaginary[mirror]!
    const oddRe = imaginary[bin]! + imaginary[mirror]!
    const oddIm = real[bin]! - real[mirror]!
    one[bin] = 0.5 * Math.log((evenRe * evenRe + evenIm * evenIm) / 4 + 1e-9)
    other[bin] = 0.5 * Math.log((oddRe * oddRe + oddIm * oddIm) / 4 + 1e-9)
    one[mirror] = one[bin]!
    other[mirror] = other[bin]!
  }
}

/** Smooths two logarithmic spectra to envelopes by low-pass liftering their cepstra. */
function keepEnvelopes(one: Float64Array, other: Float64Array): void {
  // Such spectra are real and even, and so are their cepstra: they do not mix, and transforming twice comes back.
  fourier.transform(one, other)
  for (let quefrency = 0; quefrency < frameSize; quefrency++) {
    const kept = Math.min(quefrency, frameSize - quefrency) > envelopeQuefrency ? 0 : 1 / frameSize
    one[quefrency]! *= kept
    other[quefrency]! *= kept
  }
  fourier.transform(one, other)
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
