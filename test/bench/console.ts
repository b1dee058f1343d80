import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolder } from '../../src/app/package-folder.ts'
import { haveBrowser } from '../console/browser.ts'
import { furnish } from '../console/furniture.ts'
import { withScene } from '../console/scene.ts'
import { goTo, logIn } from '../console/visits.ts'

/** The bounds of the console: bytes as gzip sends them, and milliseconds from the address to the form that can be filled in. */
const mostBytes = 120_000
const mostMs = 300

const rounds = 10
const memories = 1000

/** A frame that takes longer than two of a screen with 60 a second is a stutter: milliseconds. */
const longestFrameMs = 34

/** The size of the console, how soon it is there, and whether a list of 1,000 memories scrolls without a stutter. */
export async function bench(): Promise<void> {
  const bytes = sizes()
  const total = bytes.reduce((sum, [, size]) => sum + size, 0)
  for (const [name, size] of bytes.slice(0, 6)) line(name, size)
  line(`all ${bytes.length} files (at most ${mostBytes})`, total)
  if (!haveBrowser) return
  await withScene(async (scene) => {
    const { persona } = await furnish(scene, memories)
    const cold: number[] = []
    for (let round = 0; round < rounds; round++) {
      const { page, context } = await scene.browser.open(scene.url)
      await page.getByRole('heading', { name: 'Log in' }).waitFor()
      cold.push(Number(await page.evaluate(formReadyMs)))
      await context.close()
    }
    tell('load to the login form', cold, mostMs)
    const visit = await logIn(scene, 'ada')
    await goTo(visit, `personas/${persona}/memories`, 'Mia')
    await visit.page.getByText(`${memories.toLocaleString('en')} memories`).waitFor()
    const frames = (await visit.page.evaluate(scrollThrough)) as number[]
    const slow = frames.filter((ms) => ms > longestFrameMs).length
    process.stdout.write(
      `  scrolling ${memories} memories: ${frames.length} frames, ${slow} over ${longestFrameMs} ms, the longest ${Math.max(...frames).toFixed(0)} ms\n`,
    )
  })
}

function sizes(): readonly (readonly [name: string, bytes: number])[] {
  const folder = join(packageFolder('dist'), 'bundle', 'console')
  return readdirSync(folder)
    .filter((name) => name.endsWith('.gz'))
    .map((name) => [name.replace(/\.gz$/, ''), statSync(join(folder, name)).size] as const)
    .sort(([, one], [, other]) => other - one)
}

function line(name: string, bytes: number): void {
  process.stdout.write(`  ${name.padEnd(36)} ${String(bytes).padStart(8)} bytes gzipped\n`)
}

function tell(what: string, values: readonly number[], most: number): void {
  const sorted = values.toSorted((one, other) => one - other)
  const median = sorted[Math.floor(sorted.length / 2)]!
  process.stdout.write(
    `  ${what}: median ${median.toFixed(0)} ms, ${sorted[0]!.toFixed(0)} to ${sorted.at(-1)!.toFixed(0)} (at most ${most}: ${median <= most ? 'met' : 'missed'})\n`,
  )
}

/** Milliseconds from the start of the navigation to the painting of the form. */
const formReadyMs = `new Promise((resolve) => {
  new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime)).observe({ type: 'largest-contentful-paint', buffered: true })
})`

/** Scrolls from the first memory to the last in steps of 300 pixels a frame; the durations of the frames. */
const scrollThrough = `new Promise((resolve) => {
  const list = document.querySelector('.virtual')
  const frames = []
  let before = performance.now()
  const step = (now) => {
    frames.push(now - before)
    before = now
    list.scrollTop += 300
    if (list.scrollTop + list.clientHeight >= list.scrollHeight - 1) resolve(frames.slice(1))
    else requestAnimationFrame(step)
  }
  requestAnimationFrame(step)
})`
