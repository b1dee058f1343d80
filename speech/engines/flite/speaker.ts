import { readData } from '../../shared/data.ts'

/** The recorded speakers inside flite that are clear enough to be understood. */
export type BaseVoice = 'slt' | 'rms' | 'awb'

/** The settings that tell one voice of the flite engine from another. */
export interface Speaker {
  readonly base: BaseVoice
  /** Median pitch in Hz. */
  readonly pitch: number
  /** Formants move to this many times their frequency: it is spoken that much lower and slower, and played faster. */
  readonly formants: number
  /** Liveliness: the standard deviation of the pitch in Hz; undefined keeps the base voice's. The voice rms has its own. */
  readonly spread?: number
  /** How much longer than the base voice's every sound lasts. */
  readonly stretch: number
}

/** What words in a description do to a voice: pitch and stretch change by a factor, the spread by addition. */
interface Trait {
  readonly words: readonly string[]
  readonly pitch?: number
  readonly stretch?: number
  readonly spread?: number
}

interface Speakers {
  /** The speaker for each named voice while no neural model is installed: of the same gender and, as far as words tell, character. */
  readonly presets: Readonly<Record<string, Partial<Speaker> & Pick<Speaker, 'base'>>>
  readonly female: readonly string[]
  readonly male: readonly string[]
  readonly scottish: readonly string[]
  readonly traits: readonly Trait[]
}

const speakers = readData<Speakers>('engines/flite/speakers.json')

/** The median pitch of each base voice as it comes, in Hz (measured over three sentences). */
const naturalPitch: Readonly<Record<BaseVoice, number>> = { slt: 174, rms: 100, awb: 131 }

/** The highest pitch of each base voice that was measured to be understood, as a factor; the lowest is 0.82 of all. */
const highest: Readonly<Record<BaseVoice, number>> = { slt: 1.45, rms: 1.2, awb: 1.45 }
const lowest = 0.82

/** The standard deviation of pitch in the base voices, in Hz. */
const usualSpread = 20

/** A speaker: the base voice with some settings changed, within the range that stays clear. */
export function speaker(base: BaseVoice, changes: Partial<Speaker> = {}): Speaker {
  const natural = naturalPitch[base]
  const { pitch = natural, stretch = 1, spread, formants = base === 'slt' ? 0.94 : 1 } = changes
  const bounded = clamp(pitch, lowest * natural, highest[base] * natural)
  return {
    base,
    pitch: bounded,
    formants: base === 'rms' ? bounded / natural : formants,
    stretch: clamp(stretch, 0.8, 1.35),
    ...(spread !== undefined && { spread: clamp(spread, 2, 45) }),
  }
}

/** The speaker of a preset, in any case; undefined for an unknown name. */
export function presetSpeaker(name: string): Speaker | undefined {
  const preset = speakers.presets[name.toLowerCase()]
  return preset && speaker(preset.base, preset)
}

/** A voice from the words that describe it: gender, age, pitch, pace and mood. Unknown words are ignored. */
export function speakerOfDescription(description: string): Speaker {
  return speakerOfInstruction(neutralSpeaker(description), description)
}

function neutralSpeaker(description: string): Speaker {
  if (hasWord(description, speakers.female)) return speaker('slt')
  if (hasWord(description, speakers.male)) return speaker(hasWord(description, speakers.scottish) ? 'awb' : 'rms')
  return speaker('awb', { pitch: 150 })
}

/** The same voice, bent by the words of an instruction such as "speak slowly and sadly". */
export function speakerOfInstruction(voice: Speaker, instruction: string): Speaker {
  let { pitch, stretch, spread } = voice
  for (const trait of speakers.traits) {
    if (!hasWord(instruction, trait.words)) continue
    pitch *= trait.pitch ?? 1
    stretch *= trait.stretch ?? 1
    if (trait.spread !== undefined) spread = (spread ?? usualSpread) + trait.spread
  }
  return speaker(voice.base, { ...voice, pitch, stretch, ...(spread !== undefined && { spread }) })
}

function hasWord(text: string, words: readonly string[]): boolean {
  return new RegExp(`\\b(?:${words.join('|')})\\b`, 'i').test(text)
}

function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value))
}
