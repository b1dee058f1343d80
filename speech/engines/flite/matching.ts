import { AppError } from '../../../src/errors.ts'
import type { Clip } from '../../audio/wav.ts'
import { profileVoice } from './analysis.ts'
import { type Flite, outputRate } from './flite.ts'
import { type Speaker, speaker } from './speaker.ts'

/** Spoken to measure a base voice: it holds most sounds of English, as any clip of a few seconds does. */
const calibration = 'The quick brown fox jumps over the lazy dog, and she sells sea shells by the shore.'
/** Above the first pitch in Hz a voice is taken for a woman's or child's, above the second for a man's high one. */
const [femaleAbove, highAbove] = [155, 115]
/** Less speech than this tells too little about a voice. */
const leastSpeechSeconds = 0.4
/** A minute suffices; more would only take longer. */
const heardSeconds = 60

/**
 * Chooses and bends the base voice that is nearest to a clip: median pitch and tempo are brought to the clip's, within the range that
 * stays clear. It is matching, not cloning: the speaker will not be recognised by it. Throws `invalid` for a clip without speech.
 */
export function matchSpeaker(flite: Flite, clip: Clip): Speaker {
  const wanted = profileVoice(clip.samples.subarray(0, heardSeconds * clip.sampleRate), clip.sampleRate)
  const { pitch } = wanted
  if (pitch === undefined || wanted.speechSeconds < leastSpeechSeconds)
    throw new AppError('invalid', 'No voice can be heard in the clip', {
      details: ['send a recording of one person speaking, without music'],
    })
  const matched = speaker(pitch > femaleAbove ? 'slt' : pitch > highAbove ? 'awb' : 'rms', { pitch })
  const { tempo } = profileVoice(flite.speak(calibration, matched), outputRate)
  return wanted.tempo > 0 ? speaker(matched.base, { ...matched, stretch: tempo / wanted.tempo }) : matched
}
