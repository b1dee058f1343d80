import type { Timbre } from './timbre.ts'

/** The recorded speakers inside flite that are clear enough to be understood. */
export type BaseVoice = 'slt' | 'rms' | 'awb' | 'kal16'

/** The median pitch of each base voice as it comes, in Hz (measured over three sentences). */
export const naturalPitch: Readonly<Record<BaseVoice, number>> = { slt: 174, rms: 100, awb: 131, kal16: 93 }

/** The settings that tell one voice of the flite engine from another. */
export interface Speaker extends Timbre {
  readonly base: BaseVoice
  /** Median pitch in Hz. */
  readonly pitch: number
  /** Liveliness: the standard deviation of the pitch in Hz; undefined keeps the base voice's. The voice rms has its own. */
  readonly spread?: number
  /** How much longer than the base voice's every sound lasts. */
  readonly stretch: number
}

/** A speaker: the base voice with some settings changed. */
export function speaker(base: BaseVoice, changes: Partial<Omit<Speaker, 'base'>> = {}): Speaker {
  return { base, pitch: naturalPitch[base], stretch: 1, formants: 1, equaliser: [], ...changes }
}

/** Spectral tilts in dB from 0 to 8 kHz: they tell voices apart without touching the formants that carry the words. */
const bright = [-3, -1, 1, 3, 4]
const warm = [2, 0, -2, -4, -5]

/**
 * The speaker for each named voice while no neural model is installed: of the same gender and, as far as words tell,
 * character. Every setting was kept where an automatic recogniser still understands it; formants of the female
 * base only go down, those of the male ones by no more than a tenth.
 */
export const presets: Readonly<Record<string, Speaker>> = {
  ryan: speaker('rms', { pitch: 112, stretch: 0.92 }),
  aiden: speaker('awb', { pitch: 140, stretch: 0.9, formants: 0.96 }),
  vivian: speaker('slt', { pitch: 208, formants: 0.93, equaliser: bright }),
  serena: speaker('slt', { pitch: 163, formants: 0.95, equaliser: warm }),
  uncle_fu: speaker('rms', { pitch: 88, stretch: 1.05, formants: 0.97 }),
  dylan: speaker('awb', { pitch: 158 }),
  eric: speaker('rms', { pitch: 125, formants: 1.05 }),
  ono_anna: speaker('slt', { pitch: 236, stretch: 0.96, formants: 0.9 }),
  sohee: speaker('awb', { pitch: 189, formants: 1.1 }),

  alba: speaker('slt', { pitch: 180, formants: 0.93 }),
  marius: speaker('awb', { pitch: 116, formants: 0.98 }),
  javert: speaker('rms', { pitch: 90, formants: 0.97 }),
  jean: speaker('awb', { pitch: 142, stretch: 1.08, spread: 12 }),
  fantine: speaker('slt', { pitch: 158, stretch: 1.06, formants: 0.94, equaliser: warm }),
  cosette: speaker('slt', { pitch: 236, formants: 0.91 }),
  eponine: speaker('slt', { pitch: 204, spread: 40, formants: 0.92 }),
  azelma: speaker('awb', { pitch: 192, formants: 1.1, equaliser: bright }),

  'alba-casual': speaker('slt', { pitch: 180, formants: 0.93 }),
  'alba-merchant': speaker('slt', { pitch: 202, stretch: 0.92, formants: 0.9 }),
  'alba-announcer': speaker('slt', { pitch: 166, stretch: 1.05, formants: 0.95, equaliser: bright }),
  'expresso-happy': speaker('awb', { pitch: 168, spread: 30, stretch: 0.94, equaliser: bright }),
  'expresso-sad': speaker('awb', { pitch: 110, spread: 8, stretch: 1.12, equaliser: warm }),
  'expresso-angry': speaker('rms', { pitch: 122, stretch: 0.9, equaliser: bright }),
  'vctk-p225': speaker('awb', { pitch: 190, formants: 1.08 }),
  'vctk-p226': speaker('rms', { pitch: 100 }),
  'vctk-p227': speaker('awb', { pitch: 136, formants: 0.97 }),
  'vctk-p228': speaker('slt', { pitch: 224, formants: 0.89, equaliser: warm }),
}
