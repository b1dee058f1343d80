/**
 * Puts mixed load on a daemon for some minutes, with faults at its provider, slow readers and clients that vanish, and judges
 * itself: `npm run soak -- MINUTES`. Loopback only; ends by itself, exit 1 when a promise was not kept.
 */

import { rmSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { print } from '../bench/parts/figures.ts'
import { goodPassword, spawnDaemon } from '../helpers/program/daemon.ts'
import { createMeasures, type Measures, type Sample, sampleOf, slopeOf } from './measure.ts'
import { openLoadProvider, soakFaults } from './provider.ts'
import { expected, type Scene, works } from './work.ts'

/** The growth of memory that is no leak: MiB per minute in the second half (reference: the RSS slope of a soak). */
const mostGrowth = 1
/** The first minutes fill caches: of a shorter soak the growth is told and not judged. */
const leastMinutes = 10
/** Files that may be open at the end beyond those at half time: kept connections come and go. */
const mostFiles = 20
/** The slowest of 100 requests without a model's work: milliseconds. */
const mostHealthMs = 1_000
/** Seconds between two samples, and lines of progress. */
const sampleSeconds = 5
const lineSeconds = 60

const minutes = Number(process.argv[2] ?? 5)
if (!(minutes > 0 && minutes <= 24 * 60)) {
  process.stderr.write('Say the minutes, from 0.1 to 1440: npm run soak -- 20\n')
  process.exitCode = 64
} else await soak()

async function soak(): Promise<void> {
  print(`soak of ${minutes} min on ${cpus().length} × ${cpus()[0]?.model}, Node ${process.versions.node}`)
  const provider = await openLoadProvider()
  const daemon = await spawnDaemon({
    CUSTOM_API_KEY: 'sk-of-the-soak',
    AICHAT_LIMIT_REQUESTS_PER_USER: '512',
    AICHAT_LOG_LEVEL: 'error',
  })
  const over = new AbortController()
  const samples: Sample[] = []
  const measures = createMeasures()
  try {
    const { body } = await daemon.call('POST', '/api/auth/register', {
      body: { username: 'ada', password: goodPassword },
    })
    const plugins = [
      ...['healthy', 'paced', 'large'].map((name) => provider.plugin(name, name)),
      ...soakFaults.map((name, index) => provider.plugin(`fault-${index}`, name)),
    ]
    for (const plugin of plugins) {
      const { status, body: told } = await daemon.call('POST', '/api/plugins/install', {
        token: body.token,
        body: plugin,
      })
      if (status !== 201) throw new Error(`installing: ${status} ${JSON.stringify(told)}`)
    }
    await daemon.call('POST', '/api/plugins/activate/healthy', { token: body.token })
    const scene: Scene = { url: daemon.url, call: daemon.call, token: body.token, measures, signal: over.signal }
    const workers = works.flatMap(({ name, workers, restMs, work }) =>
      Array.from({ length: workers }, (_, index) => keepWorking(scene, name, index * 7, restMs, work)),
    )
    const began = performance.now()
    const passed = () => (performance.now() - began) / 60_000
    let line = 0
    while (passed() < minutes) {
      await sleep(Math.min(sampleSeconds * 1000, Math.max(10, (minutes - passed()) * 60_000)))
      samples.push(sampleOf(daemon.child.pid!, passed()))
      if (passed() * 60 >= line * lineSeconds) {
        line++
        show(samples.at(-1)!, measures)
      }
    }
    over.abort()
    await Promise.all(workers)
    await sleep(3_000)
    const rest = sampleOf(daemon.child.pid!, passed())
    const stopped = await daemon.stop()
    judge(measures, samples, rest, stopped, daemon.output.stderr)
  } finally {
    over.abort()
    if (daemon.child.exitCode === null) await daemon.stop('SIGKILL')
    await provider.close()
    rmSync(daemon.home, { recursive: true, force: true })
  }
}

async function keepWorking(
  scene: Scene,
  name: string,
  first: number,
  restMs: number,
  work: (scene: Scene, turn: number) => Promise<void>,
): Promise<void> {
  for (let turn = first; !scene.signal.aborted; turn++) {
    try {
      await work(scene, turn)
    } catch (reason) {
      if (scene.signal.aborted) return
      scene.measures.note(name, `no answer: ${(reason as Error).message}`, 0)
    }
    await sleep(restMs, undefined, { signal: scene.signal }).catch(() => undefined)
  }
}

function judge(measures: Measures, samples: readonly Sample[], rest: Sample, exit: number | null, log: string): void {
  const half = samples.slice(Math.floor(samples.length / 2))
  const growth = slopeOf(half.map(({ minutes, mebibytes }) => [minutes, mebibytes]))
  const files = rest.files - half[0]!.files
  print('\nroute               requests      p50      p99  outcomes')
  const wrong: string[] = []
  for (const [route, outcomes] of measures.outcomes) {
    const count = [...outcomes.values()].reduce((sum, each) => sum + each, 0)
    const ms = (share: number) => `${measures.quantile(route, share).toFixed(1)} ms`.padStart(9)
    const shown = [...outcomes].map(([outcome, times]) => `${outcome}: ${times}`).join(', ')
    print(`${route.padEnd(18)} ${String(count).padStart(9)}${ms(0.5)}${ms(0.99)}  ${shown}`)
    for (const [outcome, times] of outcomes)
      if (!(expected[route] ?? /^$/).test(outcome)) wrong.push(`${route} was answered with ${outcome}, ${times} times`)
  }
  const [first, last] = [half[0]!, half.at(-1)!]
  print(
    `\nmemory ${first.mebibytes.toFixed(0)} MiB at half time, ${last.mebibytes.toFixed(0)} MiB at the end, ${rest.mebibytes.toFixed(0)} MiB at rest: ${growth.toFixed(2)} MiB/min`,
  )
  print(
    `open files ${first.files} at half time, ${rest.files} at rest; threads ${rest.threads}; load ${loadavg()[0]!.toFixed(1)}`,
  )
  const judgesMemory = minutes >= leastMinutes
  if (judgesMemory && growth > mostGrowth) wrong.push(`memory grows by ${growth.toFixed(2)} MiB/min`)
  if (files > mostFiles) wrong.push(`${files} more files are open at rest than at half time`)
  if (measures.quantile('health', 0.99) > mostHealthMs)
    wrong.push('one in a hundred looks at /health took over a second')
  if (exit !== 0) wrong.push(`the daemon ended with ${exit} on SIGTERM`)
  if (/unhandled|uncaught|"internal"/i.test(log))
    wrong.push(`the log tells of a failure of its own: ${log.slice(-500)}`)
  const unjudged = judgesMemory ? '' : `; memory was not judged: that takes ${leastMinutes} minutes or more`
  print(wrong.length === 0 ? `PASSED${unjudged}` : `FAILED${unjudged}\n  ${wrong.join('\n  ')}`)
  if (wrong.length > 0) process.exitCode = 1
}

function show({ minutes, mebibytes, files }: Sample, measures: Measures): void {
  const requests = [...measures.outcomes.values()]
    .flatMap((each) => [...each.values()])
    .reduce((sum, each) => sum + each, 0)
  print(
    `${minutes.toFixed(1).padStart(6)} min  ${mebibytes.toFixed(0)} MiB  ${files} files  ${requests} requests  p99 of /health ${measures.quantile('health', 0.99).toFixed(0)} ms  load ${loadavg()[0]!.toFixed(1)}`,
  )
}
