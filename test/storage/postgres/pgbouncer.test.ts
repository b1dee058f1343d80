// With --all only: PostgreSQL.

import pg from 'pg'
import * as assert from 'uvu/assert'
import { havePgBouncer, openPgBouncer } from '../../helpers/postgres/pgbouncer.ts'
import { postgresSuite } from '../../helpers/postgres/suite.ts'

const { test, server, run } = postgresSuite('PgBouncer before a PostgreSQL', havePgBouncer())

test('transactions of several clients share one connection, whose sessions keep nothing', async () => {
  const bouncer = await openPgBouncer(server().port, { connections: 1 })
  const connectionString = bouncer.at(await server().newDatabase())
  const clients = [new pg.Client({ connectionString }), new pg.Client({ connectionString })]
  try {
    const pids = new Set<number>()
    for (const client of clients) {
      await client.connect()
      for (let round = 0; round < 2; round++) {
        const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
        pids.add(rows[0].pid)
      }
    }
    assert.is(pids.size, 1)
    const wrong = new pg.Client({
      connectionString: Object.assign(new URL(connectionString), { password: 'wrong' }).href,
    })
    const refused = await wrong.connect().then(() => 'connected', String)
    assert.match(refused, /authentication failed/)
  } finally {
    for (const client of clients) await client.end()
    await bouncer.close()
  }
})

run()
