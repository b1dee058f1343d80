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
  if (step === 1) return samples.slice()
  const scale = Math.min(1, 1 / step)
  const reach = zeroCrossings / scale
  const output = new Float32Array(Math.round(samples.length / step))
  for (let index = 0; index < output.length; index++) {
    const centre = index * step
    const first = Math.max(0, Math.ceil(centre - reach))
    const last = Math.min(samples.length - 1, Math.floor(centre + reach))
    let sum = 0
    for (let at = first; at <= last; at++) {
      const position = Math.abs(centre - at) * scale * tableSteps
      const below = Math.floor(position)
      const low = kernel[below]!
      sum += samples[at]! * (low + (position - below) * (kernel[below + 1]! - low))
    }
    output[index] = sum * scale
  }
  return output
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
function besselI0(x: number): number {
  let sum = 1
  let term = 1
  for (let index = 1; term > 1e-12 * sum; index++) {
    term *= (x / (2 * index)) ** 2
    sum += term
  }
  return sum
}
