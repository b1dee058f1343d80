import { spawnSync } from 'node:child_process'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { temporaryFolder } from '../helpers/folders.ts'
import type { Contestant } from './gateway-parts/contestant.ts'
import {
  openChildren,
  otherWays,
  peerName,
  project,
  startFloor,
  startOurs,
  startPart,
  startPeer,
} from './gateway-parts/contestants.ts'
import { ask, type Kind } from './gateway-parts/exchange.ts'
import { load, memoryOf, type Round } from './gateway-parts/load.ts'
import { roundSeconds, rounds, shares } from './gateway-parts/shares.ts'
import { median, print, quantile } from './parts/figures.ts'

const pipeName = 'node:http pipe'

/** An older build of aichat in the folder that AICHAT_BENCH_BEFORE names: shows the cost of a change. */
const beforeName = 'aichat before'

/** Streams at once, at 20 ms a token. */
const crowd = 512

/** Chats before and between the two looks at memory. */
const warmChats = 1_000
const manyChats = 100_000

/**
 * Our gateway beside the Portkey gateway, beside the provider alone and beside two minimal programs on bare Node, on
 * loopback, in interleaved rounds of one run. Every round's statuses and bytes are checked: a gateway that answers
 * errors looks fast. With AICHAT_BENCH_ONLY, an expression, the shares of the
 * ways to ask with such a name alone.
 */
export async function bench(): Promise<void> {
  const folder = temporaryFolder()
  await using children = openChildren()
  if (spawnSync('wrk', ['-v']).error) {
    print('skipped: the load generator wrk is not installed (Debian package wrk)')
    return
  }
  const upstream = (await startPart(children, 'upstream')).url
  const build = process.env['AICHAT_BENCH_BEFORE']
  const ours = await startOurs(children, join(folder, 'now'), upstream, 'aichat', project)
  const older = build ? await startOurs(children, join(folder, 'before'), upstream, beforeName, build) : undefined
  const pipe = await startFloor(children, upstream, 'pipe', pipeName)
  const ways = [{ ...ours, name: 'login' }, ...(await otherWays(ours))]
  const before = older ? [older, ...(await otherWays(older))] : []
  const only = process.env['AICHAT_BENCH_ONLY']
  const rows = ways
    .map((way, at) => ({ name: way.name, base: pipe, others: [way, ...before.slice(at, at + 1)] }))
    .filter(({ name }) => new RegExp(only ?? '').test(name))
  const columns = ['now', ...(older ? ['before'] : [])]
  await shares('whole answers: the rate of the pipe', 'whole', columns, rows)
  await shares('streams at once: the rate of the pipe', 'streamed', columns, rows)
  if (only !== undefined) return

  const peer = await startPeer(children, upstream)
  const plain = [ours, ...(older ? [older] : []), pipe]
  const contestants = [
    { name: 'provider alone', url: `${upstream}/v1/chat/completions`, headers: {}, pid: undefined },
    ...plain,
    await startFloor(children, upstream, 'h3', 'bare h3 + undici'),
    ...(peer ? [peer] : []),
  ]
  for (const kind of ['whole', 'streamed'] as const) for (const contestant of contestants) await ask(contestant, kind)
  await table('whole answers, 1 connection', [...contestants, ...ways], 'whole', 1)
  await table('whole answers, 32 connections', contestants, 'whole', 32)
  await table('streams at once, 32 connections', contestants, 'streamed', 32)
  await ratesWithin(5, contestants)
  await firstBytes([...contestants, ...ways])
  await steadyStreams(plain)
  for (const contestant of plain) if (contestant !== pipe) await memory(contestant)
}

/** Headings name the load of the machine: wall-clock figures mean little where others work beside. */
function heading(title: string): void {
  print(`\n${title} (load of the machine ${loadavg()[0]!.toFixed(1)})`)
}

async function table(title: string, contestants: readonly Contestant[], kind: Kind, connections: number) {
  const results = new Map<string, Round[]>(contestants.map(({ name }) => [name, []]))
  for (const contestant of contestants) await load(contestant, kind, connections, 1)
  for (let round = 0; round < rounds; round++) {
    for (const contestant of contestants)
      results.get(contestant.name)!.push(await load(contestant, kind, connections, roundSeconds))
  }
  heading(title)
  print(`  ${''.padEnd(24)}        /s   of pipe    p50 ms    p99 ms   CPU s per 1,000   × ${peerName}`)
  const pipe = results.get(pipeName)!
  const peer = results.get(peerName)
  for (const [name, all] of results) {
    const cells = [
      median(all.map((round) => round.perSecond)).toFixed(0),
      `${(100 * against(all, pipe)).toFixed(0)} %`,
      median(all.map((round) => round.p50Ms)).toFixed(2),
      median(all.map((round) => round.p99Ms)).toFixed(2),
    ]
    const cpu = median(all.map((round) => round.cpuPerThousand))
    print(
      `  ${name.padEnd(24)}${cells.map((cell) => cell.padStart(10)).join('')}` +
        `${(Number.isNaN(cpu) ? '' : cpu.toFixed(4)).padStart(18)}${(peer ? against(all, peer).toFixed(2) : '').padStart(10)}`,
    )
  }
}

/** The median, over the rounds, of the throughput as a share of the other's in the same round. */
function against(all: readonly Round[], others: readonly Round[]): number {
  return median(all.map((round, index) => round.perSecond / others[index]!.perSecond))
}

/** The highest throughput with a p99 of at most so many milliseconds, over numbers of connections. */
async function ratesWithin(ms: number, contestants: readonly Contestant[]): Promise<void> {
  heading(`whole answers/s at p99 ≤ ${ms} ms`)
  for (const contestant of contestants) {
    let best: { readonly rate: number; readonly connections: number } | undefined
    for (const connections of [1, 2, 4, 8, 16, 32]) {
      const { perSecond: rate, p99Ms } = await load(contestant, 'whole', connections, roundSeconds)
      if (p99Ms <= ms && rate > (best?.rate ?? 0)) best = { rate, connections }
    }
    const found = best ? `${best.rate.toFixed(0).padStart(7)}/s with ${best.connections}` : '   none'
    print(`  ${contestant.name.padEnd(24)}${found}`)
  }
}

async function firstBytes(contestants: readonly Contestant[]): Promise<void> {
  const times = new Map<string, number[]>(contestants.map(({ name }) => [name, []]))
  for (let round = 0; round < 100; round++)
    for (const contestant of contestants) {
      const { firstByteMs } = await ask(contestant, 'paced')
      times.get(contestant.name)!.push(firstByteMs)
    }
  heading('paced stream (content after 22 ms), one at a time: first byte of content, ms over a direct request')
  const direct = times.get(contestants[0]!.name)!
  for (const [name, all] of times) {
    const over = [0.5, 0.99].map((share) => (quantile(all, share) - quantile(direct, share)).toFixed(2).padStart(8))
    print(`  ${name.padEnd(24)}p50${over[0]}   p99${over[1]}`)
  }
}

/** The gaps between tokens of many streams at once; the load generator is this process. */
async function steadyStreams(contestants: readonly Contestant[]): Promise<void> {
  const gaps = new Map<string, number[]>(contestants.map(({ name }) => [name, []]))
  for (let round = 0; round < 3; round++)
    for (const contestant of contestants) {
      const answers = await Promise.all(Array.from({ length: crowd }, () => ask(contestant, 'steady')))
      gaps.get(contestant.name)!.push(...answers.flatMap((answer) => answer.gaps))
    }
  heading(`${crowd} streams at 20 ms a token: gaps between tokens, ms`)
  for (const [name, all] of gaps)
    print(
      `  ${name.padEnd(24)}p50${quantile(all, 0.5).toFixed(1).padStart(8)}   p99${quantile(all, 0.99).toFixed(1).padStart(8)}`,
    )
}

async function memory(contestant: Contestant): Promise<void> {
  const chats = async (most: number) => {
    let done = 0
    while (done < most) done += (await load(contestant, 'whole', 32, Math.min(5, Math.ceil(most / 4000)))).requests
    return done
  }
  await chats(warmChats)
  const before = memoryOf(contestant.pid)
  const done = await chats(manyChats)
  heading(`memory of ${contestant.name}`)
  print(`  ${before.toFixed(0)} MiB, after ${done} more chats ${memoryOf(contestant.pid).toFixed(0)} MiB`)
}
