/** Memories on PostgreSQL beside SQLite: the cost of a search and of a new memory, and whether both find the same. */

import { loadavg } from 'node:os'
import type { Found, Scope, SearchQuery } from '../../src/personas/memory/memory.ts'
import { readQuery } from '../../src/personas/memory/ranking-query.ts'
import { lookupsOf } from '../../src/personas/memory/ranking-spelling.ts'
import type { Storage } from '../../src/storage/open-storage.ts'
import { builtinEmbedder, keepAll, percentiles } from './memory-parts/scope.ts'
import { createText } from './memory-parts/text.ts'
import { print } from './parts/figures.ts'
import { type Both, fill, makeScope, newMemory, openBoth } from './postgres-parts/stores.ts'
import { createTopics } from './postgres-parts/topics.ts'

/** Dimensions of the vectors. */
const dimension = 1536

/** The size of the large scope can be given as AICHAT_BENCH_MEMORIES; 0 leaves it out. */
const large = Number(process.env['AICHAT_BENCH_MEMORIES'] ?? 100_000)

export async function bench(): Promise<void> {
  print(`Aim: 1,000 memories × ${dimension} among 200 scopes, p50 ≤ 6 ms; 100,000 ≤ 80 ms with ≤ 20 ms of this process;
candidates identical to SQLite's in all queries; one memory added ≤ 10 ms, with fsync.`)
  const both = await openBoth()
  if (!both) return print('No PostgreSQL here, and none could be installed.')
  try {
    print(both.fact)
    const text = createText(7)
    const vector = createTopics(dimension, 11)
    for (let other = 0; other < 200; other++) await fill(both, await makeScope(both), 20, text, vector)
    const scope = await makeScope(both)
    await fill(both, scope, 1000, text, vector)
    await compared(both, scope, 400, text, vector, '1,000 memories among 200 scopes × 20')
    await added(both, scope, text, vector)
    if (large === 0) return
    const largest = await makeScope(both)
    const seconds = await fill(both, largest, large, text, vector)
    print(`\n${large} stored in ${seconds.sqlite.toFixed(0)} s (SQLite), ${seconds.postgres.toFixed(0)} s (PostgreSQL)`)
    await compared(both, largest, 60, text, vector, `${large} memories in one scope`)
    await compared(both, scope, 400, text, vector, '1,000 memories beside it')
  } finally {
    await both.close()
  }
}

type Text = ReturnType<typeof createText>

/** Asks both the same, one after the other; both are warm after twenty queries. */
async function compared(
  both: Both,
  scope: Scope,
  rounds: number,
  text: Text,
  vector: ReturnType<typeof createTopics>,
  title: string,
): Promise<void> {
  const rarity = builtinEmbedder().rarity
  const sqlite = meter(both.sqlite, scope)
  const postgres = meter(both.postgres, scope)
  let same = 0
  let frequencies = 0
  let difference = 0
  let before: number | undefined
  for (let round = -20; round < rounds; round++) {
    if (round === 0) before = await both.serverCpu()
    const asked = lookupsOf(readQuery(text.question(), rarity, text.now()))
    const query: SearchQuery = { ...asked, vector: vector(), candidates: 120 }
    const one = await sqlite.search(query, round >= 0)
    const other = await postgres.search(query, round >= 0)
    if (round < 0) continue
    if (idsOf(one) === idsOf(other)) same++
    if (String(one.frequencies) === String(other.frequencies)) frequencies++
    difference = Math.max(difference, farthest(one, other))
  }
  const server = perRound(before, await both.serverCpu(), rounds)
  print(`\n${title}, ${rounds} queries, load ${loadavg()[0]!.toFixed(1)}`)
  print(`  SQLite      ${sqlite.told()}`)
  print(`  PostgreSQL  ${postgres.told()}${server}`)
  print(
    `  same candidates ${same}/${rounds}, same frequencies ${frequencies}/${rounds}, cosines differ by ${difference.toExponential(1)} at most`,
  )
}

function meter({ memories }: Storage, scope: Scope) {
  const times: number[] = []
  let cpu = 0
  return {
    async search(query: SearchQuery, isMeasured: boolean): Promise<Found> {
      const [start, before] = [performance.now(), process.cpuUsage()]
      const found = await memories.search(scope, query)
      if (isMeasured) {
        times.push(performance.now() - start)
        const { user, system } = process.cpuUsage(before)
        cpu += (user + system) / 1000
      }
      return found
    },
    told: () => `${percentiles(times)}, CPU of this process ${(cpu / times.length).toFixed(1)} ms each`,
  }
}

function idsOf({ candidates }: Found): string {
  return candidates
    .map(({ entry }) => entry.id)
    .sort()
    .join()
}

function farthest(one: Found, other: Found): number {
  const cosines = new Map(one.candidates.map(({ entry, cosine }) => [entry.id, cosine]))
  return Math.max(
    0,
    ...other.candidates.map(({ entry, cosine }) => Math.abs((cosine ?? 0) - (cosines.get(entry.id) ?? cosine ?? 0))),
  )
}

async function added(both: Both, scope: Scope, text: Text, vector: ReturnType<typeof createTopics>): Promise<void> {
  const fresh = Array.from({ length: 100 }, () => newMemory(text, vector))
  print(`\nOne memory added to them, load ${loadavg()[0]!.toFixed(1)}`)
  for (const [name, { memories }] of [
    ['SQLite    ', both.sqlite],
    ['PostgreSQL', both.postgres],
  ] as const) {
    const times: number[] = []
    const [before, server] = [process.cpuUsage(), await both.serverCpu()]
    for (const memory of fresh) {
      const start = performance.now()
      await memories.add(scope, [memory], keepAll)
      times.push(performance.now() - start)
    }
    const { user, system } = process.cpuUsage(before)
    const ofServer = name === 'SQLite    ' ? '' : perRound(server, await both.serverCpu(), 100)
    print(
      `  ${name}  ${percentiles(times)}, CPU of this process ${((user + system) / 1e5).toFixed(1)} ms each${ofServer}`,
    )
  }
}

function perRound(before: number | undefined, after: number | undefined, rounds: number): string {
  return before === undefined || after === undefined ? '' : `, of the server ${((after - before) / rounds).toFixed(1)}`
}
