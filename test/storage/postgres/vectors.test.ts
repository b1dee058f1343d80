// With --all only: PostgreSQL.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { Storage } from '../../../src/storage/open-storage.ts'
import { openStorageOn } from '../../../src/storage/postgres/storage.ts'
import { changeOverToPgvector } from '../../../src/storage/postgres/vectors-change-over.ts'
import { type InProcess, openInProcess } from '../../helpers/postgres/pglite.ts'
import { keepAll, makeScope, memory, vector } from '../../helpers/storage/samples.ts'
import { storageIn } from '../../helpers/storage/test-storage.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('vectors in PostgreSQL')
let inProcess: InProcess
let folder: string

test.before(async () => {
  inProcess = await openInProcess()
  folder = mkdtempSync(join(tmpdir(), 'aichat-vectors-'))
})

test.after(async () => {
  await inProcess.close()
  rmSync(folder, { recursive: true, force: true })
})

test('a database from before pgvector changes over with its vectors, and who had it open goes on', async () => {
  const db = inProcess.database()
  await db.transaction((tx) =>
    tx.script(`ALTER TABLE memory_vector ALTER COLUMN vector TYPE bytea USING vector_send(vector);
      ALTER TABLE memory_vector RENAME COLUMN vector TO bytes`),
  )
  const storage: Storage = await openStorageOn(inProcess.database(), storageIn(folder), {})
  const { memories } = storage
  const scope = await makeScope(storage, 'p')
  const { entries } = await memories.add(
    scope,
    [0, 1, 2].map((at) => memory(`m${at}`, { vector: vector(at) })),
    keepAll,
  )
  const nearest = async () => {
    const { candidates } = await memories.search(scope, { terms: [], vector: vector(1.9), candidates: 2 })
    return candidates.map(({ entry, cosine }) => [entry.content, cosine!.toFixed(4)])
  }
  const found = [['m2', Math.cos(0.1).toFixed(4)]]
  assert.equal(await nearest(), found)
  assert.match(await storage.check(), /without pgvector.*not changed over/)

  assert.is(await changeOverToPgvector(db, 2), undefined, 'there are more than a start moves')
  assert.equal(await nearest(), found)
  assert.is(await changeOverToPgvector(db), 3)
  assert.is(await changeOverToPgvector(db), undefined)

  assert.equal(await nearest(), found)
  assert.equal((await memories.get(scope, entries[0]!.id))?.vector, vector(0))
  await memories.add(scope, [memory('m3', { vector: vector(1.9) })], keepAll)
  assert.equal(await nearest(), [['m3', '1.0000']])
  assert.match(await storage.check(), /pgvector \d/)
  await storage.close()
})

test.run()
