import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import * as assert from 'uvu/assert'
import { schemaName } from '../../../src/storage/schema/version.ts'
import { openDatabase } from '../../../src/storage/sqlite/database.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the database')

const folder = mkdtempSync(join(tmpdir(), 'aichat-database-'))
test.after(() => rmSync(folder, { recursive: true, force: true }))

const applied = 'SELECT name, applied_at FROM migration ORDER BY rowid'

test('has its schema from the start, and is not changed by a second opening', async () => {
  const path = join(folder, 'order.db')
  const first = await openDatabase(path)
  const rows = first.prepare(applied).all() as { name: string }[]
  assert.equal(
    rows.map(({ name }) => name),
    [schemaName],
  )
  const second = await openDatabase(path)
  assert.equal(second.prepare(applied).all(), rows)
  first.close()
  second.close()
})

test('of a newer aichat is refused and left alone', async () => {
  const path = join(folder, 'newer.db')
  const db = await openDatabase(path)
  db.prepare("INSERT INTO migration (name, applied_at) VALUES ('memories-99', 0)").run()
  db.close()
  try {
    await openDatabase(path)
    assert.unreachable()
  } catch (reason) {
    assert.match(String((reason as Error).message), /newer aichat/)
    assert.equal((reason as { details: string[] }).details, ['unknown change of schema: memories-99'])
  }
  // A service that ran before, and its children, go on.
  const running = await openDatabase(path, { expectsNewer: true })
  running.close()
  const after = new BetterSqlite3(path, { readonly: true })
  assert.is(after.prepare('SELECT count(*) FROM migration').pluck().get(), 2)
  after.close()
})

test.run()
