import { createHash } from 'node:crypto'
import BetterSqlite3 from 'better-sqlite3'
import * as assert from 'uvu/assert'
import { statementsOf } from '../../../src/storage/schema/statements.ts'
import { schemaName } from '../../../src/storage/schema/version.ts'
import { bringUp, objectsIn } from '../../../src/storage/sqlite/schema.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the version of the schema')

/** The digest of the statements that make each version: a change of them needs a new version, and a new line here. */
const digests: Readonly<Record<string, string>> = {
  'schema-1': '9614efbf8cee8328',
  'schema-2': 'aad6484ea1702fec',
  'schema-3': '2e6a4cec5c7f0331',
  'schema-4': 'ad8d0089c2e73273',
  'schema-5': '28c4e4a8f13a72db',
  'schema-6': '32a824f1eaff11e3',
  'schema-7': 'f7d2056fb1eb1f1b',
  'schema-8': '8dd52520ab6c1364',
  'schema-9': '66a236fbfc355ab6',
}

test('is raised with every change of the tables, indexes and triggers', () => {
  const db = new BetterSqlite3(':memory:')
  bringUp(db, new Set(), 0)
  const postgres = statementsOf('postgres').map(({ create, indexes }) => [create, ...indexes.values()])
  const digest = createHash('sha256')
    .update(JSON.stringify([objectsIn(db), postgres]))
    .digest('hex')
  db.close()
  assert.is(digest.slice(0, 16), digests[schemaName])
})

test('a database that was made with an earlier version is brought up', () => {
  const db = new BetterSqlite3(':memory:')
  bringUp(db, new Set(), 0)
  db.exec(
    "UPDATE migration SET name = 'schema-1'; INSERT INTO user VALUES ('a', 'ada', 'ada', NULL, NULL, '', 'admin', 0, 0, 1, 1, 'ada')",
  )
  bringUp(db, new Set(['schema-1']), 1)
  assert.equal(db.prepare('SELECT username FROM user').pluck().all(), ['ada'])
  db.close()
})

test.run()
