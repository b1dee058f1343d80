/** How many zero crossings of the sinc stand on each side of its centre: longer is steeper and slower. */
const zeroCrossings = 16
/** Kaiser window with 80 dB of stop-band attenuation (Kaiser 1974: beta = 0.1102 (A - 8.7)). */
const kaiserBeta = 0.1102 * (80 - 8.7)
/** The kernel's table has this many points between two zero crossings; linear interpolation does the rest. */
const tableSteps = 512

const kernel = sincTable()

/**
 * Changes the sample rate by windowed-sinc interpolation (Smith, "Digital Audio Resampling", ccrma.stanford.edu/~jos/resample).
 * `step` is how far the input advances per output sample: `fromRate / toRate`. Frequencies that the output cannot hold
 * are filtered out. The output has `round(length / step)` samples.
 */
export function resample(samples: Float32Array, step: number): Float32Array {
  const output = new Float32Array(Math.round(samples.length / step))
  const resampler = createResampler(step)
  for (let from = 0; from < output.length; from += blockSize)
    output.set(resampler(samples, from, Math.min(output.length, from + blockSize)), from)
  return output
}

/** Long recordings are worked on in blocks of so many samples, since a block is copied in double precision. */
const blockSize = 1 << 16

/** Samples of the output from one index up to another; outside the input there is silence. */
export type Resampler = (samples: Float32Array, from: number, to: number) => Float32Array

/** A resampler that computes its filters once; see `resample`. */
export function createResampler(step: number): Resampler {
  const scale = Math.min(1, 1 / step)
  const reach = resampleReach(step)
  const phases = denominatorOf(step)
  const filters: (Float64Array | undefined)[] = []

  return (samples, from, to) => {
    if (step === 1) return samples.slice(from, to)
    const output = new Float32Array(Math.max(0, to - from))
    const first = Math.floor(from * step + 1e-9) - reach
    const input = stretchOf(samples, first, Math.floor(to * step) + reach + 2)
    for (let index = from; index < to; index++) {
      const centre = index * step
      const below = Math.floor(centre + 1e-9)
      const phase = phases === undefined ? 0 : index % phases
      const filter = (phases === undefined ? undefined : filters[phase]) ?? filterAt(centre - below, scale, reach)
      if (phases !== undefined) filters[phase] = filter
      output[index - from] = weigh(input, below - reach - first, filter)
    }
    return output
  }
}

/** The samples from one index up to another, with silence for those that there are not. */
function stretchOf(samples: Float32Array, from: number, to: number): Float64Array {
  const stretch = new Float64Array(Math.max(0, to - from))
  const start = Math.max(0, from)
  const end = Math.min(samples.length, to)
  if (end > start) stretch.set(samples.subarray(start, end), start - from)
  return stretch
}

/** The sum of the samples from `start` on, each times its weight, in two sums that do not wait for each other. */
function weigh(samples: Float64Array, start: number, filter: Float64Array): number {
  const last = filter.length - 1
  let even = 0
  let odd = 0
  for (let tap = 0; tap < last; tap += 2) {
    even += samples[start + tap]! * filter[tap]!
    odd += samples[start + tap + 1]! * filter[tap + 1]!
  }
  // Filters are symmetric about a middle and so of odd length.
  return even + odd + samples[start + last]! * filter[last]!
}

/** How many input samples on each side an output sample depends on. */
export function resampleReach(step: number): number {
  return Math.ceil(zeroCrossings * Math.max(1, step))
}

/** Most rates are fractions: after as many output samples the same filters come again. */
const mostPhases = 1024

function denominatorOf(step: number): number | undefined {
  for (let denominator = 1; denominator <= mostPhases; denominator++) {
    const numerator = step * denominator
    if (Math.abs(numerator - Math.round(numerator)) < 1e-9 * numerator) return denominator
  }
  return undefined
}

/** The weights of the input samples around a point that lies `fraction` after the one in the middle. */
function filterAt(fraction: number, scale: number, reach: number): Float64Array {
  const filter = new Float64Array(2 * reach + 1)
  for (let tap = 0; tap < filter.length; tap++) {
    const position = Math.abs(tap - reach - fraction) * scale * tableSteps
    const below = Math.floor(position)
    const low = kernel[below] ?? 0
    filter[tap] = scale * (low + (position - below) * ((kernel[below + 1] ?? 0) - low))
  }
  return filter
}

function sincTable(): Float64Array {
  const table = new Float64Array(zeroCrossings * tableSteps + 2)
  const edge = besselI0(kaiserBeta)
  for (let index = 0; index <= zeroCrossings * tableSteps; index++) {
    const x = index / tableSteps
    const window = besselI0(kaiserBeta * Math.sqrt(1 - (x / zeroCrossings) ** 2)) / edge
    table[index] = (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)) * window
  }
  return table
}

/** The modified Bessel function of order 0, by its power series. */
export function besselI0(x: number): number {
  let sum = 1
  let term = 1
  for (let index = 1; term > 1e-17 * sum; index++) {
    term *= (x / (2 * index)) ** 2
    sum += term
  }
  return sum
}
