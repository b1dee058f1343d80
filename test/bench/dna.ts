/** Whole personas in and out: time, peak memory and bytes of both forms, each step in a process of its own. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../helpers/folders.ts'
import { importOverHttp } from './dna-parts/over-http.ts'

type Measured = { readonly ms: number; readonly peak: number; readonly bytes: number }

/** Sizes can be given as AICHAT_BENCH_MEMORIES=1000,50000. */
const sizes = (process.env['AICHAT_BENCH_MEMORIES'] ?? '1000,50000').split(',').map(Number)
const steps = ['export', 'verify', 'import'] as const
const forms = ['container', 'document'] as const

export async function bench(): Promise<void> {
  process.stdout.write(
    'Aim: a container verified at 50 MB/s or more, in less than 300 MB at 50,000 memories × 1,536.\n',
  )
  for (const size of sizes) {
    const folder = temporaryFolder()
    await measure(folder, size)
  }
}

async function measure(folder: string, size: number): Promise<void> {
  for (const name of ['home', ...forms.map((form) => `away-${form}`)]) mkdirSync(join(folder, name))
  const stocked = step('stock', folder, 'container', size)
  process.stdout.write(
    `\n${size.toLocaleString('en')} memories × 1,536 (stocked in ${(stocked.ms / 1000).toFixed(1)} s)\n`,
  )
  process.stdout.write('form       step      seconds     MB/s   peak MB    file MB\n')
  for (const form of forms) {
    for (const deed of steps) {
      const { ms, peak, bytes } = step(deed, folder, form, size)
      const cells = [
        (ms / 1000).toFixed(2),
        (bytes / 1000 / ms).toFixed(0),
        (peak / 1e6).toFixed(0),
        (bytes / 1e6).toFixed(1),
      ]
      process.stdout.write(`${form.padEnd(11)}${deed.padEnd(8)}${cells.map((cell) => cell.padStart(10)).join('')}\n`)
    }
    const file = join(folder, `persona.${form}`)
    const { ms, longestWait, longestTurn } = await importOverHttp(file, folder)
    process.stdout.write(
      `${form.padEnd(11)}over HTTP${(ms / 1000).toFixed(2).padStart(9)}   /health waited ${longestWait.toFixed(0)} ms at most, the longest turn took ${longestTurn === 0 ? 'under 20' : longestTurn} ms of processor time of all threads\n`,
    )
    rmSync(join(folder, `away-${form}`), { recursive: true })
    rmSync(file)
  }
}

function step(deed: string, folder: string, form: string, size: number): Measured {
  const isSource = import.meta.url.endsWith('.ts')
  const path = fileURLToPath(new URL(`./dna-parts/step.${isSource ? 'ts' : 'js'}`, import.meta.url))
  const words = [...(isSource ? ['--import', 'tsx'] : []), path, deed, folder, form, String(size)]
  const { stdout, stderr, status } = spawnSync(process.execPath, words, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${deed} ${form} failed: ${stderr}`)
  return JSON.parse(stdout) as Measured
}
