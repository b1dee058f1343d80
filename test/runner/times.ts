/**
 * How long each test file took, for the order in which they run: the longest start first, so that none runs alone at the end.
 * `dist/test-times.json` holds the last run on this machine; `times.json` beside this file, in the sources, is for the first run.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Seconds by the clock, by the file's path in `test` without its ending. */
export type Times = Readonly<Record<string, number>>

export function readTimes(root: string): Times {
  const [shipped, own] = placesIn(root)
  return { ...timesIn(shipped), ...timesIn(own) }
}

/** Keeps the times of a run beside those of the files that it did not run. */
export function keepTimes(root: string, times: Times): void {
  const [, own] = placesIn(root)
  writeFileSync(own, jsonOf({ ...timesIn(own), ...times }))
}

/** Writes the times of files of at least a second into the sources: the others may run in any order. */
export function shipTimes(root: string, times: Times): void {
  const long = Object.entries(times).filter(([, seconds]) => seconds >= 1)
  writeFileSync(placesIn(root)[0], jsonOf(Object.fromEntries(long)))
}

export function nameOf(file: string): string {
  return file.replace(/\.test\.[jt]s$/, '')
}

function placesIn(root: string): readonly [string, string] {
  return [join(root, 'test', 'runner', 'times.json'), join(root, 'dist', 'test-times.json')]
}

function timesIn(path: string): Times {
  try {
    return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Times) : {}
  } catch {
    // A run that was ended while it wrote: the order is as for a first run.
    return {}
  }
}

function jsonOf(times: Times): string {
  const rows = Object.entries(times).sort(([one], [other]) => (one < other ? -1 : 1))
  return `${JSON.stringify(Object.fromEntries(rows.map(([name, seconds]) => [name, Math.round(seconds * 10) / 10])), undefined, 2)}\n`
}
