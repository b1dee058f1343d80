/** The gateway on PostgreSQL beside the same on SQLite: what the database costs a chat that has neither persona nor session. */

import { spawnSync } from 'node:child_process'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { closing } from '../helpers/disposal.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { havePostgres, openPostgres } from '../helpers/postgres/server.ts'
import type { Contestant } from './gateway-parts/contestant.ts'
import { openChildren, otherWays, project, startOurs, startPart } from './gateway-parts/contestants.ts'
import { ask, type Kind } from './gateway-parts/exchange.ts'
import { load, type Round } from './gateway-parts/load.ts'
import { median, print } from './parts/figures.ts'

/** AICHAT_BENCH_ROUNDS gives others. */
const rounds = Number(process.env['AICHAT_BENCH_ROUNDS'] ?? 8)
/** Seconds of a round; AICHAT_BENCH_SECONDS gives others. */
const roundSeconds = Number(process.env['AICHAT_BENCH_SECONDS'] ?? 2)

const connections = 32

/** The ways of `otherWays` that are compared, beside a login's token. */
const ways = ['with key', 'key + limits', 'as a persona']

/** One way to ask, at both daemons. */
type Pair = { readonly name: string; readonly sqlite: Contestant; readonly postgres: Contestant }

export async function bench(): Promise<void> {
  print('Aim: on PostgreSQL at least 97 % of the requests that SQLite allows, by the CPU time of the daemon.')
  if (spawnSync('wrk', ['-v']).error)
    return print('skipped: the load generator wrk is not installed (Debian package wrk)')
  if (!havePostgres()) return print('No PostgreSQL here, and none could be installed.')
  const folder = temporaryFolder()
  await using server = closing(await openPostgres({ durable: true }))
  await using children = openChildren()
  const upstream = (await startPart(children, 'upstream')).url
  const start = (name: string, settings: Record<string, string> = {}) =>
    startOurs(children, join(folder, name), upstream, 'aichat', project, [], settings)
  const sqlite = await start('sqlite')
  const url = await server.newDatabase()
  const postgres = await start('postgres', { DATABASE_URL: url, JWT_SECRET: 'a secret of the bench, long enough' })
  const others = { sqlite: await otherWays(sqlite), postgres: await otherWays(postgres) }
  const named = (all: readonly Contestant[], name: string) => all.find((one) => one.name === name)!
  const pairs: readonly Pair[] = [
    { name: 'login', sqlite, postgres },
    ...ways.map((name) => ({ name, sqlite: named(others.sqlite, name), postgres: named(others.postgres, name) })),
  ]
  for (const kind of ['whole', 'streamed'] as const) {
    print(`\n${kind} answers, ${connections} connections, load of the machine ${loadavg()[0]!.toFixed(1)}`)
    print(`  ${''.padEnd(16)}SQLite /s   PostgreSQL /s   share   CPU s per 1,000: SQLite   PostgreSQL   share`)
    for (const pair of pairs) await compared(pair, kind)
  }
}

/** Rounds of both in turn, each of the two first in half of them; the shares are medians over the rounds. */
async function compared({ name, sqlite, postgres }: Pair, kind: Kind): Promise<void> {
  const results: { readonly sqlite: Round; readonly postgres: Round }[] = []
  for (const contestant of [sqlite, postgres]) {
    await ask(contestant, kind)
    await load(contestant, kind, connections, 1)
  }
  const round = (contestant: Contestant) => load(contestant, kind, connections, roundSeconds)
  for (let at = 0; at < rounds; at++) {
    const first = await round(at % 2 === 0 ? sqlite : postgres)
    const second = await round(at % 2 === 0 ? postgres : sqlite)
    results.push(at % 2 === 0 ? { sqlite: first, postgres: second } : { sqlite: second, postgres: first })
  }
  const middle = (read: (one: (typeof results)[number]) => number) => median(results.map(read))
  const cells = [
    middle(({ sqlite: one }) => one.perSecond)
      .toFixed(0)
      .padStart(9),
    middle(({ postgres: one }) => one.perSecond)
      .toFixed(0)
      .padStart(16),
    percent(middle((one) => one.postgres.perSecond / one.sqlite.perSecond)).padStart(8),
    middle(({ sqlite: one }) => one.cpuPerThousand)
      .toFixed(4)
      .padStart(25),
    middle(({ postgres: one }) => one.cpuPerThousand)
      .toFixed(4)
      .padStart(13),
    percent(middle((one) => one.sqlite.cpuPerThousand / one.postgres.cpuPerThousand)).padStart(8),
  ]
  print(`  ${name.padEnd(16)}${cells.join('')}`)
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}
