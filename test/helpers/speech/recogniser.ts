import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { resample } from '../../../speech/audio/resample.ts'
import { writeWav } from '../../../speech/audio/wav.ts'
import { haveProgram } from '../debian.ts'

/**
 * Recognises speech with PocketSphinx and its open vocabulary of 129,000 English words: harsher than a listener, and
 * without knowledge of the text.
 */
export interface Recogniser {
  /** Recognises each recording, by name. All in one call, since loading the model takes longest. */
  transcribe(recordings: ReadonlyMap<string, Recording>, effort?: Effort): Promise<ReadonlyMap<string, string>>
}

/** `thorough` searches twice, as PocketSphinx does unless told otherwise; `quick` once and among fewer states, in half the time. */
export type Effort = 'thorough' | 'quick'

export type Recording = { readonly samples: Float32Array; readonly sampleRate: number }

const model = '/usr/share/pocketsphinx/model/en-us'

/** The recogniser, installed by apt where that is possible; otherwise undefined, and a line with the reason. */
export function findRecogniser(): Recogniser | undefined {
  if (!haveProgram('pocketsphinx_batch', ['pocketsphinx', 'pocketsphinx-en-us'])) return undefined
  if (existsSync(join(model, 'en-us.lm.bin'))) return { transcribe }
  process.stdout.write('skipped: the model of PocketSphinx is not installed (Debian package pocketsphinx-en-us)\n')
  return undefined
}

/** Two jobs at a time, each with every second recording: one core does not wait for the other. */
async function transcribe(
  recordings: ReadonlyMap<string, Recording>,
  effort: Effort = 'thorough',
): Promise<ReadonlyMap<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'aichat-recogniser-'))
  const names = [...recordings.keys()]
  try {
    for (const [name, { samples, sampleRate }] of recordings)
      writeFileSync(join(folder, `${name}.wav`), writeWav(resample(samples, sampleRate, 16_000), 16_000))
    const halves = [0, 1].map((half) => names.filter((_, index) => index % 2 === half))
    const heard = await Promise.all(halves.map((half, index) => runJob(folder, `job${index}`, half, effort)))
    return new Map(heard.flatMap((part) => [...part]))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function runJob(
  folder: string,
  job: string,
  names: readonly string[],
  effort: Effort,
): Promise<ReadonlyMap<string, string>> {
  if (names.length === 0) return new Map()
  const file = (ending: string) => join(folder, `${job}.${ending}`)
  writeFileSync(file('list'), names.map((name) => `${name}\n`).join(''))
  const audio = ['-adcin', 'yes', '-adchdr', '44', '-cepdir', folder, '-cepext', '.wav', '-ctl', file('list')]
  const language = ['-lm', join(model, 'en-us.lm.bin'), '-dict', join(model, 'cmudict-en-us.dict')]
  const words = ['-hmm', join(model, 'en-us'), ...language]
  // States of words for each frame; without a limit it is 30,000.
  const search = effort === 'quick' ? ['-fwdflat', 'no', '-maxhmmpf', '5000'] : []
  const output = ['-hyp', file('heard'), '-logfn', file('log')]
  await promisify(execFile)('pocketsphinx_batch', [...audio, ...words, ...search, ...output])
  return readHeard(readFileSync(file('heard'), 'utf8'))
}

/** Lines of `some words (name -1234)`; a word's other pronunciations are marked `(2)`. */
function readHeard(text: string): ReadonlyMap<string, string> {
  const lines = text.split('\n').flatMap((line) => /^(.*)\((\S+) -?\d+\)$/.exec(line) ?? [])
  const heard = new Map<string, string>()
  for (let at = 0; at + 2 < lines.length; at += 3)
    heard.set(lines[at + 2]!, lines[at + 1]!.replace(/\(\d+\)/g, '').trim())
  return heard
}

/** Words wrong (put in, left out, taken for another) for each word of the text: Levenshtein's distance over words. */
export function wordErrorRate(text: string, heard: string): number {
  const [wanted, found] = [wordsOf(text), wordsOf(heard)]
  let row = found.map((_, index) => index + 1)
  row.unshift(0)
  for (const [index, word] of wanted.entries()) {
    const next = [index + 1]
    for (const [at, other] of found.entries())
      next.push(Math.min(row[at + 1]! + 1, next[at]! + 1, row[at]! + (word === other ? 0 : 1)))
    row = next
  }
  return row.at(-1)! / wanted.length
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[a-z']+/g) ?? []
}
