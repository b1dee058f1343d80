/** The gateway on PostgreSQL beside the same on SQLite: what the database costs each way to ask. */

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { closing } from '../helpers/disposal.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { havePostgres, openPostgres } from '../helpers/postgres/server.ts'
import { openChildren, otherWays, project, startOurs, startPart } from './gateway-parts/contestants.ts'
import { type Row, shares } from './gateway-parts/shares.ts'
import { print } from './parts/figures.ts'

export async function bench(): Promise<void> {
  print('Aim: on PostgreSQL at least 95 % of the requests that SQLite allows, by the CPU time of the daemon.')
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
  const rows: readonly Row[] = [
    { name: 'login', base: sqlite, others: [postgres] },
    ...others.sqlite.map((base, at) => ({ name: base.name, base, others: [others.postgres[at]!] })),
  ]
  await shares('whole answers: the rate with SQLite', 'whole', ['PostgreSQL'], rows)
  await shares('streams at once: the rate with SQLite', 'streamed', ['PostgreSQL'], rows)
}
