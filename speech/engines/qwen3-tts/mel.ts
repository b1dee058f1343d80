/** The log-mel spectrogram that the speaker encoder was trained on. */
import { createFourierTransform } from '../../audio/fourier.ts'

const frameSize = 1024
const hop = 256
/** Samples that are mirrored at each end, so that the first frame begins there. */
const mirrored = (frameSize - hop) / 2

const bins = frameSize / 2 + 1
const fourier = createFourierTransform(frameSize)
/** Hann's window, periodic: the next sample would begin it again. */
const window = Float64Array.from({ length: frameSize }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / frameSize))

/** Below these numbers the authors' program rounds up, against logarithms of zero. */
const [leastPower, leastMel] = [1e-9, 1e-5]

/** The logarithms of `bands` mel bands, [bands, frames]. The clip must be longer than its mirrored part. */
export function logMel(
  samples: Float32Array,
  bands: number,
  sampleRate: number,
): { readonly frames: number; readonly data: Float32Array } {
  const padded = mirror(samples)
  const frames = Math.floor((padded.length - frameSize) / hop) + 1
  const filters = melFilters(bands, sampleRate)
  const data = new Float32Array(bands * frames)
  const [real, imaginary] = [new Float64Array(frameSize), new Float64Array(frameSize)]
  const magnitudes = new Float64Array(bins)
  for (let frame = 0; frame < frames; frame++) {
    for (let i = 0; i < frameSize; i++) real[i] = padded[frame * hop + i]! * window[i]!
    imaginary.fill(0)
    fourier.transform(real, imaginary)
    for (let i = 0; i < bins; i++) magnitudes[i] = Math.sqrt(real[i]! ** 2 + imaginary[i]! ** 2 + leastPower)
    for (let band = 0; band < bands; band++) {
      let sum = 0
      for (let i = 0; i < bins; i++) sum += filters[band * bins + i]! * magnitudes[i]!
      data[band * frames + frame] = Math.log(Math.max(sum, leastMel))
    }
  }
  return { frames, data }
}

function mirror(samples: Float32Array): Float32Array {
  const padded = new Float32Array(samples.length + 2 * mirrored)
  padded.set(samples, mirrored)
  for (let i = 1; i <= mirrored; i++) {
    padded[mirrored - i] = samples[i]!
    padded[mirrored + samples.length - 1 + i] = samples[samples.length - 1 - i]!
  }
  return padded
}

/** Triangles on the scale of Slaney's Auditory Toolbox (1998), up to half the sample rate, each of area 1 over its width: [bands, 513]. */
export function melFilters(bands: number, sampleRate: number): Float64Array {
  const highest = melOf(sampleRate / 2)
  const edges = Array.from({ length: bands + 2 }, (_, i) => hertzOf((highest * i) / (bands + 1)))
  const filters = new Float64Array(bands * bins)
  for (let band = 0; band < bands; band++) {
    const [low = 0, centre = 0, high = 0] = edges.slice(band, band + 3)
    for (let i = 0; i < bins; i++) {
      const hertz = (i * sampleRate) / frameSize
      const weight = Math.min((hertz - low) / (centre - low), (high - hertz) / (high - centre))
      filters[band * bins + i] = (Math.max(0, weight) * 2) / (high - low)
    }
  }
  return filters
}

/** Below 1000 Hz the scale is linear, 200/3 Hz a step; above, each step multiplies by the 27th root of 6.4. */
const [linearStep, corner] = [200 / 3, 1000]
const logarithmicStep = Math.log(6.4) / 27

function melOf(hertz: number): number {
  return hertz < corner ? hertz / linearStep : corner / linearStep + Math.log(hertz / corner) / logarithmicStep
}

function hertzOf(mel: number): number {
  const cornerMel = corner / linearStep
  return mel < cornerMel ? mel * linearStep : corner * Math.exp((mel - cornerMel) * logarithmicStep)
}
