import { resample } from '../../audio/resample.ts'

/** The measures of a voice that any recording of it shows. */
export type VoiceProfile = ReturnType<typeof profileVoice>

const analysisRate = 16_000
const frameSize = 512
const hop = 160
/** The range of speaking pitch, children included, in Hz. */
const pitchRange = { low: 60, high: 400 } as const
/** A frame this many dB below the loud ones holds no speech. */
const silenceBelow = 30
/** Normalised correlation of a frame with itself one period later; unvoiced frames stay below. */
const voicedAbove = 0.6

/** Measures a recording of one voice: mono samples in [-1, 1]. */
export function profileVoice(samples: Float32Array, sampleRate: number) {
  const signal = withoutOffset(resample(samples, sampleRate, analysisRate))
  const frames = Math.max(0, Math.floor((signal.length - frameSize) / hop) + 1)
  const levels = Float64Array.from({ length: frames }, (_, frame) => level(signal, frame * hop))
  const loud = levels.toSorted()[Math.floor(0.95 * frames)] ?? -120
  const active = [...levels.keys()].filter((frame) => levels[frame]! > loud - silenceBelow && levels[frame]! > -70)
  /** Seconds that hold speech rather than silence. */
  const speechSeconds = (active.length * hop) / analysisRate
  return {
    /** Median fundamental frequency of the voiced frames in Hz; undefined where nothing is voiced. */
    pitch: medianPitch(signal, active),
    /** Loudness peaks per second of speech, about the number of syllables. */
    tempo: speechSeconds > 0 ? countPeaks(levels, loud) / speechSeconds : 0,
    speechSeconds,
  }
}

/** The signal about its mean: an offset is no sound, but looks like itself at every lag. */
function withoutOffset(signal: Float32Array): Float32Array {
  const mean = signal.reduce((sum, sample) => sum + sample, 0) / Math.max(1, signal.length)
  return signal.map((sample) => sample - mean)
}

/** Decibels relative to full scale. */
function level(signal: Float32Array, start: number): number {
  let sum = 0
  for (let index = start; index < start + frameSize; index++) sum += signal[index]! * signal[index]!
  return 10 * Math.log10(sum / frameSize + 1e-12)
}

/** The median over the voiced frames of the lag at which a frame is most like itself. */
function medianPitch(signal: Float32Array, frames: readonly number[]): number | undefined {
  // Half the rate is plenty for a pitch and costs a quarter.
  const slow = resample(signal, analysisRate, analysisRate / 2)
  const rate = analysisRate / 2
  const found = frames.flatMap((frame) => pitchAt(slow, (frame * hop) / 2, rate) ?? [])
  if (found.length < 5) return undefined
  return found.toSorted((a, b) => a - b)[Math.floor(found.length / 2)]
}

function pitchAt(signal: Float32Array, start: number, rate: number): number | undefined {
  const shortest = Math.floor(rate / pitchRange.high)
  const longest = Math.ceil(rate / pitchRange.low)
  const span = 240
  if (start + span + longest + 1 > signal.length) return undefined
  const scores = new Float64Array(longest + 2)
  for (let lag = shortest - 1; lag <= longest + 1; lag++) scores[lag] = correlation(signal, start, span, lag)
  let best = shortest
  for (let lag = shortest; lag <= longest; lag++)
    // A multiple of the period fits as well as the period itself: only a clearly better one may take over.
    if (scores[lag]! > scores[best]! + 0.02 && scores[lag]! >= scores[lag - 1]! && scores[lag]! >= scores[lag + 1]!)
      best = lag
  if (scores[best]! < voicedAbove) return undefined
  const [before, at, after] = [scores[best - 1]!, scores[best]!, scores[best + 1]!]
  const curvature = before - 2 * at + after
  const offset = curvature < 0 ? (0.5 * (before - after)) / curvature : 0
  return rate / (best + Math.max(-0.5, Math.min(0.5, offset)))
}

function correlation(signal: Float32Array, start: number, span: number, lag: number): number {
  let product = 0
  let energy = 1e-9
  let later = 1e-9
  for (let index = start; index < start + span; index++) {
    const a = signal[index]!
    const b = signal[index + lag]!
    product += a * b
    energy += a * a
    later += b * b
  }
  return product / Math.sqrt(energy * later)
}

/** Peaks of the loudness smoothed over about 80 ms that rise 3 dB above the valley before them. */
function countPeaks(levels: Float64Array, loud: number): number {
  const reach = 4
  let peaks = 0
  let valley = Number.POSITIVE_INFINITY
  let peak = Number.NEGATIVE_INFINITY
  for (let frame = 0; frame < levels.length; frame++) {
    const around = levels.subarray(Math.max(0, frame - reach), frame + reach + 1)
    const smooth = Math.max(loud - silenceBelow, around.reduce((sum, value) => sum + value, 0) / around.length)
    if (smooth > valley + 3) peak = Math.max(peak, smooth)
    else valley = Math.min(valley, smooth)
    if (peak > smooth + 3) {
      peaks += 1
      valley = smooth
      peak = Number.NEGATIVE_INFINITY
    }
  }
  return peaks
}
