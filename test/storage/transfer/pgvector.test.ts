// With --all only: PostgreSQL.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { holdDatabase } from '../../../src/storage/sqlite/hold.ts'
import { fillFolder } from '../../../src/storage/transfer/to-folder.ts'
import { fillPostgres } from '../../../src/storage/transfer/to-postgres.ts'
import { openInProcess } from '../../helpers/postgres/pglite.ts'
import { dumpOf } from '../../helpers/storage/dump.ts'
import { makeRichFolder } from '../../helpers/storage/rich-folder.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('a transfer to a database with pgvector')

test('vectors of several spaces come back from the type of the extension as they were', async () => {
  const inProcess = await openInProcess()
  const [one, other] = [1, 2].map(() => mkdtempSync(join(tmpdir(), 'aichat-transfer-'))) as [string, string]
  const db = inProcess.database()
  try {
    await makeRichFolder(one)
    const before = dumpOf(one)
    const { database, ...files } = placesIn(one)
    const held = holdDatabase(database)
    await db.transaction((tx) => fillPostgres({ tx, vectors: 'vector', name: db.name }, { db: held.db!, ...files }))
    held.release()
    const stored = await db.row<{ kinds: string }>(
      `SELECT string_agg(DISTINCT vector_dims(vector)::text, ' ') AS kinds FROM memory_vector`,
    )
    assert.is(stored?.kinds, '3072 8')
    await db.transaction((tx) => fillFolder({ tx, vectors: 'vector' }, placesIn(other), () => {}), {
      level: 'repeatable read',
    })
    assert.equal(dumpOf(other), before)
  } finally {
    await inProcess.close()
    for (const folder of [one, other]) rmSync(folder, { recursive: true, force: true })
  }
})

test.run()

function placesIn(folder: string) {
  return { database: join(folder, 'aichat.db'), plugins: join(folder, 'plugins'), backups: join(folder, 'backups') }
}
