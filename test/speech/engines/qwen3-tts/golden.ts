/** The reference data of Qwen3-TTS: numbers that the authors' implementation computed, stage by stage, for models of any geometry. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import * as assert from 'uvu/assert'
import { testData } from '../../../helpers/data.ts'
import { type FloatArray, readFloats, readIntegers } from '../pocket-tts/golden.ts'

/** The limits that the reference data suggests: its own rounding is about a tenth of them. */
export const limits = { logits: 1e-4, mel: 1e-4, layers: 5e-5, values: 2e-5 } as const

/** A folder of expected numbers. */
export interface Golden {
  readonly name: string
  has(array: string): boolean
  floats(array: string): FloatArray
  integers(array: string): number[]
}

export interface Scenario extends Golden {
  readonly text: string
  readonly speaker: string | null | undefined
  readonly language: string
  readonly instruct: string | null | undefined
  readonly transcript: string | undefined
  /** Whether a recording gives the voice; with its transcript also its codes. */
  readonly isClone: boolean
  readonly wholeText: boolean
  readonly frames: number
  readonly ended: boolean
  readonly greedy: boolean
  /** The name of the model's configuration file. */
  readonly configuration: string
}

/** A model with its expected numbers. */
export interface GoldenModel {
  readonly name: string
  readonly folder: string
  readonly scenarios: readonly Scenario[]
  /** Numbers of one part of the model, where they were recorded. */
  part(name: string): Golden | undefined
}

/** Models with the same codec, with the codec's numbers and the recording of all cloning. */
export interface GoldenSet {
  readonly models: readonly GoldenModel[]
  readonly codec: Golden
  readonly tokenizer: readonly { readonly text: string; readonly ids: readonly number[] }[]
  readonly recording: string
}

/** Every set below the test data. */
export function goldenSets(root = testData('speech-golden', 'qwen3-tts')): GoldenSet[] {
  if (root === undefined) return []
  const inner = folders(root)
  const here = inner.includes('golden-codec') ? [readSet(root, inner)] : []
  return [...here, ...inner.flatMap((name) => goldenSets(join(root, name)))]
}

function readSet(root: string, inner: readonly string[]): GoldenSet {
  const models = inner.filter((name) => existsSync(join(root, name, 'model.safetensors')))
  return {
    models: models.map((name) => readModel(join(root, name))),
    codec: golden(join(root, 'golden-codec')),
    tokenizer: JSON.parse(readFileSync(join(root, 'tokenizer-golden.json'), 'utf8')) as GoldenSet['tokenizer'],
    recording: join(root, 'reference.wav'),
  }
}

function readModel(folder: string): GoldenModel {
  const root = join(folder, 'golden')
  const names = folders(root)
  const isScenario = (name: string) => existsSync(join(root, name, 'scenario.json'))
  return {
    name: basename(folder),
    folder,
    scenarios: names.filter(isScenario).map((name) => readScenario(join(root, name))),
    part: (name) => (names.includes(name) ? golden(join(root, name)) : undefined),
  }
}

function readScenario(folder: string): Scenario {
  const said = JSON.parse(readFileSync(join(folder, 'scenario.json'), 'utf8')) as Readonly<Record<string, unknown>>
  const text = (key: string) => said[key] as string | undefined
  return {
    ...golden(folder),
    text: text('text')!,
    speaker: text('speaker'),
    language: text('language')!,
    instruct: text('instruct'),
    transcript: text('ref_text'),
    isClone: 'x_vector_only' in said,
    wholeText: said['non_streaming_mode'] === true,
    frames: said['frames'] as number,
    ended: said['ended_by_eos'] === true,
    greedy: said['greedy'] === true,
    configuration: /^config\S*\.json/.exec(text('note') ?? '')?.[0] ?? 'config.json',
  }
}

function golden(folder: string): Golden {
  const path = (array: string) => join(folder, `${array}.npy`)
  return {
    name: basename(folder),
    has: (array) => existsSync(path(array)),
    floats: (array) => readFloats(path(array)),
    integers: (array) => readIntegers(path(array)),
  }
}

function folders(root: string): string[] {
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
}

/** The largest difference; not allowed and in the expected numbers must be the same (-Infinity). */
function largestDifference(actual: Float32Array, expected: Float32Array): number {
  assert.is(actual.length, expected.length, 'so many numbers')
  let largest = 0
  for (let i = 0; i < actual.length; i++) {
    if (actual[i] === expected[i]) continue
    const difference = Math.abs(actual[i]! - expected[i]!)
    // NaN is no smaller than anything.
    if (!(difference <= largest)) largest = difference
  }
  return largest
}

const shown = process.env['AICHAT_TEST_DIFFERENCES'] === '1'

/** Fails where two arrays differ by more than the limit. */
export function close(what: string, actual: Float32Array, expected: Float32Array, limit: number): void {
  const largest = largestDifference(actual, expected)
  if (shown) process.stderr.write(`${what}: ${largest.toExponential(1)} of ${limit}\n`)
  assert.ok(largest <= limit, `${what} differs by ${largest}, allowed is ${limit}`)
}
