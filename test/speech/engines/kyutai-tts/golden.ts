/** The reference data of Kyutai TTS: numbers that the authors' implementation computed, stage by stage, for models of any geometry. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { testData } from '../../../helpers/data.ts'
import { type FloatArray, readFloats, readIntegers } from '../pocket-tts/golden.ts'

/** The limits that the reference data suggests: its own rounding is about a tenth of them. */
export const limits = { values: 5e-5, samples: 5e-6 } as const

export interface GoldenModel {
  readonly name: string
  readonly folder: string
  /** The files of its voices: of one, or of all that a script has. */
  readonly voices: readonly string[]
  /** The spoken text and its settings. */
  readonly generation: {
    /** Or its turns, by two voices. */
    readonly text: string | readonly string[]
    readonly entries: readonly { readonly text: string; readonly tokens: readonly number[]; readonly padding: number }[]
    readonly end_step: number
    readonly transcript: readonly (readonly [string, number])[]
    readonly cfg_coef: number
    readonly padding_between: number
  }
  readonly machine: StateMachine
  has(array: string): boolean
  floats(array: string): FloatArray
  integers(array: string): number[]
}

interface StateMachine {
  readonly scripts: readonly {
    readonly script: readonly string[]
    readonly padding_between: number
    readonly entries: GoldenModel['generation']['entries']
  }[]
  readonly machine: readonly {
    readonly second_stream_ahead: number
    readonly script: string | readonly string[]
    readonly padding_between: number
    readonly trace_predicted_fed_consumed: readonly (readonly [number, number, number])[]
    readonly end_step: number
    readonly consumption_times: readonly number[]
  }[]
}

/** Every model with a `golden` folder below the test data. */
export function goldenModels(root = testData('speech-golden', 'kyutai-1.6b')): GoldenModel[] {
  if (root === undefined) return []
  const inner = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const here = existsSync(join(root, 'golden', 'generation.json')) ? [readModel(root)] : []
  return [...here, ...inner.flatMap((entry) => goldenModels(join(root, entry.name)))]
}

function readModel(folder: string): GoldenModel {
  const path = (name: string) => join(folder, 'golden', name)
  const json = (name: string) => JSON.parse(readFileSync(path(name), 'utf8')) as unknown
  return {
    name: basename(folder),
    folder,
    voices: readdirSync(folder)
      .filter((name) => /@\d+\.safetensors$/.test(name))
      .sort()
      .map((name) => join(folder, name)),
    generation: json('generation.json') as GoldenModel['generation'],
    machine: json('state-machine.json') as StateMachine,
    has: (array) => existsSync(path(`${array}.npy`)),
    floats: (array) => readFloats(path(`${array}.npy`)),
    integers: (array) => readIntegers(path(`${array}.npy`)),
  }
}
