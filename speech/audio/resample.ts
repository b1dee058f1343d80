import { AppError } from '../../src/errors.ts'

/** Zero crossings of the filter on each side, and the shape of its Kaiser window: the customary ones of a polyphase converter. */
const crossings = 10
const kaiserBeta = 5

/** Rates beyond these are no recordings, and would make the filter enormous. */
const [slowest, fastest] = [1000, 384_000]

/**
 * Converts mono samples by the ratio toRate / fromRate in lowest terms, with a filter that is symmetric around each sample;
 * ⌈length × ratio⌉ samples come out. It is the filter that the authors of the neural models use, so that a reference clip gives
 * the voice that it gives there. Throws an AppError for a rate that no recording has.
 */
export function resample(samples: Float32Array, fromRate: number, toRate: number): Float32Array {
  if (!Number.isInteger(fromRate) || fromRate < slowest || fromRate > fastest)
    throw new AppError('invalid', `A sample rate of ${fromRate} Hz is not supported (${slowest} to ${fastest} is)`)
  if (fromRate === toRate) return samples
  const divisor = greatestCommonDivisor(fromRate, toRate)
  const [up, down] = [toRate / divisor, fromRate / divisor]
  const filter = lowPass(Math.max(up, down), up)
  const centre = (filter.length - 1) / 2
  return Float32Array.from({ length: Math.ceil((samples.length * up) / down) }, (_, index) => {
    // Of the signal with up - 1 zeros after every sample, only the samples themselves are multiplied.
    const position = index * down
    const first = Math.max(0, Math.ceil((position - centre) / up))
    const last = Math.min(samples.length - 1, Math.floor((position + centre) / up))
    let sum = 0
    for (let at = first; at <= last; at++) sum += samples[at]! * filter[centre + position - at * up]!
    return sum
  })
}

/** A windowed sinc with the sum `gain`; passes frequencies below 1 / factor of the highest. */
function lowPass(factor: number, gain: number): Float64Array {
  const half = crossings * factor
  const filter = Float64Array.from({ length: half * 2 + 1 }, (_, index) => {
    const x = (index - half) / factor
    const sinc = x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)
    return sinc * besselI0(kaiserBeta * Math.sqrt(1 - ((index - half) / half) ** 2))
  })
  const scale = gain / filter.reduce((sum, value) => sum + value, 0)
  return filter.map((value) => value * scale)
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b)
}

/** The modified Bessel function of order 0, by its power series. */
function besselI0(x: number): number {
  let sum = 1
  let term = 1
  for (let index = 1; term > 1e-17 * sum; index++) {
    term *= (x / (2 * index)) ** 2
    sum += term
  }
  return sum
}
