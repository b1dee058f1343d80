import { naturalPitch, type Speaker, speaker } from './speaker.ts'

/** The effect of a word in a description: pitch and stretch change by a factor, the others by addition. */
interface Bend {
  readonly pitch?: number
  readonly stretch?: number
  readonly spread?: number
  readonly formants?: number
  /** Positive is brighter: dB at 8 kHz. */
  readonly tilt?: number
}

/** Words, and what they do to a voice. */
const traits = (
  [
    ['deep|low|bass|baritone|gravelly|rumbling', { pitch: 0.86, formants: -0.04, tilt: -2 }],
    ['high|high-pitched|squeaky|shrill|treble|soprano', { pitch: 1.16, tilt: 2 }],
    [
      'old|elderly|aged|mature|wise|grandfather|grandmother|grandpa|grandma|senior',
      { pitch: 0.93, stretch: 1.1, tilt: -1 },
    ],
    ['young|youthful|teenage|teenager|teen', { pitch: 1.1, stretch: 0.96, tilt: 1 }],
    ['child|kid|childlike|little girl|little boy|toddler', { pitch: 1.3, tilt: 2 }],
    ['slow|slowly|unhurried|deliberate|relaxed|drawling|measured', { stretch: 1.18 }],
    ['fast|quick|quickly|rapid|rapidly|brisk|hurried|fast-paced', { stretch: 0.84 }],
    [
      'happy|cheerful|joyful|excited|energetic|lively|enthusiastic|playful|upbeat',
      { pitch: 1.08, stretch: 0.94, spread: 12, tilt: 2 },
    ],
    [
      'sad|melancholy|melancholic|depressed|gloomy|tired|sleepy|weary',
      { pitch: 0.92, stretch: 1.12, spread: -8, tilt: -2 },
    ],
    ['angry|furious|stern|commanding|authoritative|aggressive', { pitch: 1.02, stretch: 0.94, spread: 4, tilt: 2 }],
    [
      'calm|soothing|gentle|soft|softly|tender|quiet|whispering|whisper|intimate',
      { stretch: 1.06, spread: -4, tilt: -3 },
    ],
    ['warm|mellow|rich|smooth|velvety', { tilt: -3 }],
    ['bright|crisp|clear|sharp|thin|nasal', { tilt: 3 }],
    ['monotone|monotonous|flat|robotic|deadpan', { spread: -12 }],
    ['expressive|dramatic|animated|theatrical|melodic', { spread: 12 }],
  ] satisfies readonly (readonly [words: string, bend: Bend])[]
).map(([words, bend]): readonly [RegExp, Bend] => [new RegExp(`\\b(?:${words})\\b`), bend])

const female =
  /\b(?:female|woman|women|girl|lady|she|her|mother|mum|mom|feminine|queen|actress|soprano|alto|grandmother|grandma|witch|princess)\b/
const male =
  /\b(?:male|man|men|boy|guy|gentleman|he|his|him|father|dad|masculine|king|actor|bass|baritone|tenor|grandfather|grandpa|wizard|prince)\b/
const scottish = /\b(?:scottish|scots|british|irish)\b/

/** The standard deviation of pitch in the base voices, in Hz. */
const usualSpread = 20

/** A voice from the words that describe it: gender, age, pitch, pace, mood and colour. Unknown words are ignored. */
export function speakerOfDescription(description: string): Speaker {
  const words = description.toLowerCase()
  return applyTraits(neutralSpeaker(words), words)
}

function neutralSpeaker(words: string): Speaker {
  if (female.test(words)) return speaker('slt', { formants: 0.94 })
  if (male.test(words)) return speaker(scottish.test(words) ? 'awb' : 'rms')
  return speaker('awb', { pitch: 150 })
}

/** The same voice, bent by the words of an instruction such as "speak slowly and sadly". */
export function speakerOfInstruction(voice: Speaker, instruction: string): Speaker {
  return applyTraits(voice, instruction.toLowerCase())
}

function applyTraits(voice: Speaker, words: string): Speaker {
  const found = traits.filter(([pattern]) => pattern.test(words)).map(([, bend]) => bend)
  if (found.length === 0) return voice
  const product = (field: 'pitch' | 'stretch') => found.reduce((value, bend) => value * (bend[field] ?? 1), 1)
  const sum = (field: 'spread' | 'formants' | 'tilt') => found.reduce((value, bend) => value + (bend[field] ?? 0), 0)
  const spread = sum('spread')
  return withinBounds({
    ...voice,
    pitch: voice.pitch * product('pitch'),
    stretch: voice.stretch * product('stretch'),
    formants: voice.formants + sum('formants'),
    equaliser: tilted(voice.equaliser, sum('tilt')),
    ...(spread === 0 ? {} : { spread: Math.max(2, (voice.spread ?? usualSpread) + spread) }),
  })
}

/** Adds a straight line through 0 dB at 2 kHz that reaches `tilt` dB at 8 kHz. */
function tilted(equaliser: readonly number[], tilt: number): readonly number[] {
  if (tilt === 0) return equaliser
  const points = equaliser.length > 0 ? equaliser : [0, 0, 0, 0, 0]
  return points.map((gain, index) => gain + tilt * ((index / (points.length - 1) - 0.25) / 0.75))
}

/** Keeps a voice where it was measured to be understood: pitch from three quarters of the base voice's up, formants within a tenth. */
export function withinBounds(voice: Speaker): Speaker {
  const natural = naturalPitch[voice.base]
  const highest = voice.base === 'rms' ? 1.3 : 1.45
  return {
    ...voice,
    pitch: clamp(voice.pitch, 0.82 * natural, highest * natural),
    stretch: clamp(voice.stretch, 0.8, 1.35),
    formants: clamp(voice.formants, 0.9, voice.base === 'slt' ? 1 : 1.1),
    equaliser: voice.equaliser.map((gain) => clamp(gain, -8, 8)),
    ...(voice.spread === undefined ? {} : { spread: clamp(voice.spread, 2, 45) }),
  }
}

function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value))
}
