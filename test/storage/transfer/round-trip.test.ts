import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { moveFromPostgres } from '../../../src/storage/transfer/move-from.ts'
import { moveToPostgres } from '../../../src/storage/transfer/move-to.ts'
import { postgresSuite } from '../postgres/suite.ts'
import { dumpOf } from './dump.ts'
import { makeRichFolder } from './rich-folder.ts'

const { test, server, run } = postgresSuite('a data folder that moves to PostgreSQL and back')

test('everything that a folder holds is there again after both ways', async () => {
  const [one, other] = [1, 2].map(() => mkdtempSync(join(tmpdir(), 'aichat-transfer-'))) as [string, string]
  try {
    await makeRichFolder(one)
    const before = dumpOf(one)
    const url = await server().newDatabase()
    const moved = await moveToPostgres({ folder: one, url, keep: false })
    assert.is(moved.personas, 3)
    await moveFromPostgres({ folder: other, url })
    const after = dumpOf(other)
    for (const name of Object.keys(before)) assert.equal(after[name], before[name], name)
    assert.equal(Object.keys(after), Object.keys(before))
  } finally {
    for (const folder of [one, other]) rmSync(folder, { recursive: true, force: true })
  }
})

run()
