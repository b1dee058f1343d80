import { spawnSync } from 'node:child_process'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { temporaryFolder } from '../helpers/folders.ts'
import type { Contestant } from './gateway-parts/contestant.ts'
import { openChildren, project, startOurs, startPart } from './gateway-parts/contestants.ts'
import { ask, type Kind } from './gateway-parts/exchange.ts'
import { load, type Round } from './gateway-parts/load.ts'
import { median, print } from './parts/figures.ts'

const rounds = 5
/** Seconds of a round; AICHAT_BENCH_SECONDS gives others. */
const roundSeconds = Number(process.env['AICHAT_BENCH_SECONDS'] ?? 2)

/** Numbers of workers, and the cores that they, their owner, the provider and the load generator want. */
const crews = [1, 2, 4].filter((count) => count <= 2 || count + 3 <= availableParallelism())

/**
 * One worker beside several, on loopback, in interleaved rounds of one run. With fewer cores than processes, the
 * throughput shows how they share the cores; the CPU time of the busiest process shows the throughput with a core for
 * each.
 */
export async function bench(): Promise<void> {
  const folder = temporaryFolder()
  await using children = openChildren()
  if (spawnSync('wrk', ['-v']).error)
    return print('skipped: the load generator wrk is not installed (Debian package wrk)')
  const upstream = (await startPart(children, 'upstream')).url
  const contestants: Contestant[] = []
  for (const count of crews)
    contestants.push(
      await startOurs(children, join(folder, String(count)), upstream, nameOf(count), project, [
        '--workers',
        `${count}`,
      ]),
    )
  for (const kind of ['whole', 'streamed'] as const) {
    for (const contestant of contestants) await ask(contestant, kind)
    await table(kind, contestants)
  }
}

const connections = 32

async function table(kind: Kind, contestants: readonly Contestant[]): Promise<void> {
  const results = new Map<string, Round[]>(contestants.map(({ name }) => [name, []]))
  for (const contestant of contestants) await load(contestant, kind, connections, 1)
  for (let round = 0; round < rounds; round++)
    for (const contestant of contestants)
      results.get(contestant.name)!.push(await load(contestant, kind, connections, roundSeconds))
  print(
    `\n${kind} answers, ${connections} connections (${availableParallelism()} cores, load of the machine ${loadavg()[0]!.toFixed(1)})`,
  )
  print('                 /s   × one worker   p99 ms   CPU s per 1,000   of the busiest   × with a core each')
  const one = results.get(nameOf(1))!
  const busiestOf = (all: readonly Round[]) => median(all.map(({ busiestPerThousand }) => busiestPerThousand))
  for (const [name, all] of results) {
    const ratio = median(all.map(({ perSecond }, round) => perSecond / one[round]!.perSecond))
    const cells = [
      median(all.map(({ perSecond }) => perSecond))
        .toFixed(0)
        .padStart(8),
      ratio.toFixed(2).padStart(15),
      median(all.map(({ p99Ms }) => p99Ms))
        .toFixed(2)
        .padStart(9),
      median(all.map(({ cpuPerThousand }) => cpuPerThousand))
        .toFixed(3)
        .padStart(18),
      busiestOf(all).toFixed(3).padStart(17),
      (busiestOf(one) / busiestOf(all)).toFixed(2).padStart(21),
    ]
    print(`${name.padEnd(11)}${cells.join('')}`)
  }
}

function nameOf(count: number): string {
  return count === 1 ? '1 worker' : `${count} workers`
}
