/** Which test files run which places of the program: a test that never runs a place cannot notice a change of it. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startProcess } from '../../runner/process.ts'
import type { Mutant } from './mutants.ts'

/** A test file on the unchanged program. */
export interface Coverage {
  /** Whether it passes there: one that fails proves nothing about a change. */
  readonly passes: boolean
  /** Of the cores. */
  readonly seconds: number
  readonly places: ReadonlySet<Mutant>
}

/** The part that is read of a file which Node writes for `NODE_V8_COVERAGE`. */
interface Report {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly { readonly ranges: readonly Range[] }[]
  }[]
}

type Range = { readonly startOffset: number; readonly endOffset: number; readonly count: number }

/**
 * Runs a test file of the unchanged copy of the program, and reads which of the places it ran, in its process or in one that it
 * started from the same modules and did not kill.
 */
export async function coverageOf(
  test: string,
  copy: string,
  places: readonly Mutant[],
  environment: NodeJS.ProcessEnv,
  limitMs: number,
): Promise<Coverage> {
  const folder = join(copy, 'coverage')
  mkdirSync(folder, { recursive: true })
  try {
    const testProcess = startProcess({ ...environment, NODE_V8_COVERAGE: folder }, limitMs)
    const { failed, cpu } = await testProcess.run(join(copy, test))
    await testProcess.end()
    const ran = new Set<Mutant>()
    const urlOf = new Map(places.map(({ file }) => [file, pathToFileURL(join(copy, file)).href]))
    for (const name of readdirSync(folder))
      for (const { url, functions } of reportIn(join(folder, name)).result) {
        const ranges = functions.flatMap((called) => called.ranges)
        for (const place of places) if (urlOf.get(place.file) === url && hasRun(ranges, place.at)) ran.add(place)
      }
    return { passes: failed === 0, seconds: cpu, places: ran }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Whether the smallest range around an offset was run. */
function hasRun(ranges: readonly Range[], at: number): boolean {
  const around = ranges.filter(({ startOffset, endOffset }) => startOffset <= at && at < endOffset)
  const size = ({ startOffset, endOffset }: Range) => endOffset - startOffset
  const [smallest] = around.sort((one, other) => size(one) - size(other))
  return smallest !== undefined && smallest.count > 0
}

/** Nothing for a file whose process was killed while it wrote. */
function reportIn(path: string): Report {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report
  } catch {
    return { result: [] }
  }
}
