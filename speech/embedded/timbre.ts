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
 * filtering").
 */
export function applyTimbre(samples: Float32Array, { formants, equaliser }: Timbre): Float32Array {
  if (formants === 1 && equaliser.every((gain) => gain === 0)) return samples
  const colour = equaliserCurve(equaliser)
  const padded = new Float64Array(samples.length + 2 * frameSize)
  padded.set(samples, frameSize)
  const output = new Float64Array(padded.length)
  const real = new Float64Array(frameSize)
  const imaginary = new Float64Array(frameSize)
  const envelope = new Float64Array(frameSize / 2 + 1)

  for (let start = 0; start + frameSize <= padded.length; start += hop) {
    for (let index = 0; index < frameSize; index++) real[index] = padded[start + index]! * window[index]!
    imaginary.fill(0)
    fourier.transform(real, imaginary)
    if (formants !== 1) spectralEnvelope(real, imaginary, envelope)
    for (let bin = 0; bin <= frameSize / 2; bin++) {
      const warped = formants === 1 ? 0 : interpolate(envelope, bin / formants) - envelope[bin]!
      const gain = Math.exp(Math.max(-gainLimit, Math.min(gainLimit, warped)) + colour[bin]!)
      real[bin]! *= gain
      imaginary[bin]! *= gain
      if (bin === 0 || bin === frameSize / 2) continue
      real[frameSize - bin] = real[bin]!
      imaginary[frameSize - bin] = -imaginary[bin]!
    }
    fourier.transform(imaginary, real)
    for (let index = 0; index < frameSize; index++)
      output[start + index]! += (real[index]! * window[index]!) / (frameSize * overlapSum)
  }
  return Float32Array.from(output.subarray(frameSize, frameSize + samples.length))
}

const cepstrum = new Float64Array(frameSize)
const rest = new Float64Array(frameSize)

/** The natural logarithm of a frame's envelope, by low-pass liftering its cepstrum. */
export function spectralEnvelope(real: Float64Array, imaginary: Float64Array, envelope: Float64Array): void {
  for (let bin = 0; bin < frameSize; bin++)
    cepstrum[bin] = 0.5 * Math.log(real[bin]! * real[bin]! + imaginary[bin]! * imaginary[bin]! + 1e-9)
  rest.fill(0)
  fourier.transform(cepstrum, rest)
  for (let quefrency = 0; quefrency < frameSize; quefrency++) {
    const distance = Math.min(quefrency, frameSize - quefrency)
    cepstrum[quefrency]! *= distance > envelopeQuefrency ? 0 : 1 / frameSize
  }
  rest.fill(0)
  fourier.transform(cepstrum, rest)
  for (let bin = 0; bin <= frameSize / 2; bin++) envelope[bin] = cepstrum[bin]!
}

/** The equaliser as natural logarithms of gains, one per frequency bin. */
function equaliserCurve(decibels: readonly number[]): Float64Array {
  const points = Float64Array.from(decibels.length > 0 ? decibels : [0])
  return Float64Array.from(
    { length: frameSize / 2 + 1 },
    (_, bin) => (interpolate(points, (bin / (frameSize / 2)) * (points.length - 1)) * Math.LN10) / 20,
  )
}

/** Linear interpolation; the ends hold beyond the ends. */
function interpolate(values: Float64Array, position: number): number {
  const clamped = Math.max(0, Math.min(values.length - 1, position))
  const below = Math.floor(clamped)
  const low = values[below]!
  return low + (clamped - below) * ((values[below + 1] ?? low) - low)
}
