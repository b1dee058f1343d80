import { AppError } from '../../../src/errors.ts'
import { joinSamples } from '../../audio/sample-queue.ts'
import type { Clip } from '../../audio/wav.ts'
import { bandCount, profileVoice, type VoiceProfile } from './analysis.ts'
import { withinBounds } from './description.ts'
import { type Flite, outputRate } from './flite.ts'
import { type BaseVoice, type Speaker, speaker } from './speaker.ts'

/** Spoken to measure a base voice: it holds most sounds of English, as any clip of a few seconds does. */
const calibration = 'The quick brown fox jumps over the lazy dog, and she sells sea shells by the shore.'
/** Above this pitch in Hz a voice is taken for a woman's or child's. */
const femaleAbove = 155
/** Less speech than this tells too little about a voice. */
const leastSpeechSeconds = 0.4
/** A minute suffices; more would only take longer. */
const heardSeconds = 60
/** Bands up to 6 kHz: above that recordings differ more than voices do. */
const comparedBands = Math.round((bandCount * 6) / 8)
/** A band so many dB below the strongest holds nothing: a telephone's recording ends at 4 kHz. */
const emptyBelow = 60

/**
 * Chooses and bends the base voice that sounds most like a clip: median pitch, tempo and long-term spectrum are brought
 * to the clip's, within the range that stays clear. It is matching, not cloning: the speaker will not be recognised by it.
 * Throws `invalid` for a clip without speech.
 */
export function matchSpeaker(flite: Flite, clip: Clip): Speaker {
  const wanted = profileVoice(clip.samples.subarray(0, heardSeconds * clip.sampleRate), clip.sampleRate)
  if (wanted.pitch === undefined || wanted.speechSeconds < leastSpeechSeconds)
    throw new AppError('invalid', 'No voice can be heard in the clip', {
      details: ['send a recording of one person speaking, without music'],
    })
  const bases: readonly BaseVoice[] = wanted.pitch > femaleAbove ? ['slt', 'awb'] : ['rms', 'awb']
  const { pitch } = wanted
  const candidates = bases.map((base) => fit(flite, base, wanted, pitch))
  return candidates.reduce((best, next) => (next.distance < best.distance ? next : best)).speaker
}

function fit(flite: Flite, base: BaseVoice, wanted: VoiceProfile, pitch: number) {
  const start = withinBounds(speaker(base, { pitch }))
  const natural = profileVoice(spoken(flite, start), outputRate)
  const { distance, difference } = compare(wanted.spectrum, natural.spectrum)
  const tempo = wanted.tempo > 0 ? natural.tempo / wanted.tempo : 1
  // Pitch that the base cannot reach counts against it: a tenth of it as much as one decibel of spectrum.
  const missed = Math.abs(Math.log(pitch / start.pitch)) * 10
  return {
    distance: distance + missed,
    speaker: withinBounds({ ...start, stretch: tempo, equaliser: smooth(difference) }),
  }
}

function spoken(flite: Flite, speaker: Speaker): Float32Array {
  return joinSamples([...flite.speak(calibration, speaker)])
}

/** The root mean square of the differences per band in dB, without the overall level, and these differences. */
function compare(wanted: readonly number[], offered: readonly number[]) {
  const strongest = Math.max(...wanted)
  const bands = Math.min(comparedBands, wanted.findLastIndex((level) => level > strongest - emptyBelow) + 1)
  const difference = wanted.slice(0, bands).map((level, band) => level - offered[band]!)
  const mean = difference.reduce((sum, value) => sum + value, 0) / bands
  const centred = wanted.map((_, band) => (band < bands ? difference[band]! - mean : 0))
  return { distance: Math.sqrt(centred.reduce((sum, value) => sum + value * value, 0) / bands), difference: centred }
}

/** Three quarters of the difference, averaged over neighbours: the colour of a voice, not the comb of one sentence. */
function smooth(difference: readonly number[]): readonly number[] {
  const reach = 2
  return difference.map((_, band) => {
    const near = difference.slice(Math.max(0, band - reach), band + reach + 1)
    return (0.75 * near.reduce((sum, value) => sum + value, 0)) / near.length
  })
}
