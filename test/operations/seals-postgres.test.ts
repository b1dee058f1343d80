// With --all only: PostgreSQL.

import { postgresSuite } from '../helpers/postgres/suite.ts'
import { openInstallation } from '../helpers/program/installation.ts'
import { type Sealed, testSeals } from './seals.ts'

const { test, server, run } = postgresSuite('verifying a persona as it is stored in PostgreSQL')

let sealed: Sealed | undefined

testSeals(test, async () => {
  const url = await server().newMigrated()
  const name = new URL(url).pathname.slice(1)
  const query = (text: string) => server().query(text, name)
  const columns = async (table: string) =>
    (
      await query(
        `SELECT attname FROM pg_attribute WHERE attrelid = '${table}'::regclass AND attnum > 0 AND NOT attisdropped`,
      )
    ).map(([column]) => String(column))
  const hasBytes = (await columns('memory_vector')).includes('bytes')
  sealed = {
    installation: openInstallation({ DATABASE_URL: url, JWT_SECRET: 'a secret of the tests, long enough to sign' }),
    outside: {
      run: async (...statements) =>
        void (await query(`SET session_replication_role = replica; ${statements.join(';')}`)),
      rows: query,
      columns,
      emptyVector: hasBytes
        ? `bytes = decode(repeat('00', length(bytes)), 'hex')`
        : 'vector = array_fill(0, ARRAY[vector_dims(vector)])::vector',
    },
  }
  return sealed
})

test('the installation is closed', async () => sealed?.installation.close())

run()
