import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import * as assert from 'uvu/assert'
import { openDatabase } from '../../../src/storage/sqlite/database.ts'
import { migrations } from '../../../src/storage/sqlite/migrations.ts'
import { assertAgreeing } from '../../helpers/personas/memory-indexes.ts'
import { memoryStoreOf } from '../../helpers/storage/test-storage.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the database')

const folder = mkdtempSync(join(tmpdir(), 'aichat-database-'))
test.after(() => rmSync(folder, { recursive: true, force: true }))

const applied = 'SELECT name, applied_at FROM migration ORDER BY rowid'

test('is brought to the newest schema in order, each change once', async () => {
  const path = join(folder, 'order.db')
  const first = await openDatabase(path)
  const rows = first.prepare(applied).all() as { name: string }[]
  assert.equal(
    rows.map(({ name }) => name),
    migrations.map(({ name }) => name),
  )
  assert.is(new Set(rows.map(({ name }) => name)).size, rows.length)
  // A change that ran once more would meet its own tables.
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
  assert.is(after.prepare('SELECT count(*) FROM migration').pluck().get(), migrations.length + 1)
  after.close()
})

test('whose change fails half-way stays as it was before that change', async () => {
  const path = join(folder, 'failing.db')
  olderThan('memories-2', path, (db) => db.exec('CREATE TABLE memory_sketch (in_the_way TEXT)'))
  try {
    await openDatabase(path)
    assert.unreachable()
  } catch (reason) {
    assert.match(String((reason as Error).message), /memory_sketch already exists/)
  }
  const db = new BetterSqlite3(path)
  assert.is(db.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'memory_terms'").pluck().get(), 0)
  assert.is(db.prepare("SELECT count(*) FROM migration WHERE name = 'memories-2'").pluck().get(), 0)
  db.exec('DROP TABLE memory_sketch')
  db.close()
  const repaired = await openDatabase(path)
  assert.is(repaired.prepare("SELECT count(*) FROM migration WHERE name = 'memories-2'").pluck().get(), 1)
  repaired.close()
})

test('with memories of the first schema finds them in the newest', async () => {
  const path = join(folder, 'older.db')
  const vector = Float32Array.from({ length: 20 }, (_, at) => (at === 3 ? 1 : 0))
  olderThan('memories-2', path, (db) => {
    db.exec(`
      INSERT INTO persona (id, user_id, name, model, parameters, created_at, updated_at) VALUES ('p', 'u', 'p', 'm', '{}', 0, 0);
      INSERT INTO memory_scope (scope_id, persona_id, user_id, last_number, memories, length) VALUES (7, 'p', 'u', 2, 2, 30);
      INSERT INTO embedding_space (space_id, key, model, dimension) VALUES (1, 'k', 'm', 20);
    `)
    const row = db.prepare("INSERT INTO memory VALUES (?, 7, ?, ?, x'00', 0, 0.5, '', 0, '', '{}')")
    const text = db.prepare('INSERT INTO memory_text (rowid, content, about, context) VALUES (?, ?, ?, ?)')
    const number = 7 * 2 ** 24
    row.run(number + 1, 'a', 'the harbour freezes')
    row.run(number + 2, 'b', 'tea with lemon')
    text.run(number + 1, 'the harbour freez', '1 januari 1970', '> tea with lemon')
    text.run(number + 2, 'tea with lemon', '1 januari 1970', '< the harbour freez')
    db.prepare('INSERT INTO memory_vector VALUES (?, 1, ?)').run(number + 2, Buffer.from(vector.buffer))
  })
  const db = await openDatabase(path)
  db.exec('UPDATE memory_scope SET length = (SELECT sum(length(terms)) FROM memory_terms)')
  assertAgreeing(db)
  const store = memoryStoreOf(db)
  const scope = { personaId: 'p', userId: 'u' }
  const byWords = await store.search(scope, { terms: ['freez'], candidates: 10 })
  assert.equal(byWords.frequencies, [1])
  assert.equal(byWords.candidates.map(({ entry }) => entry.id).sort(), ['a', 'b'])
  const space = { key: 'k', model: 'm', dimension: 20 }
  const byMeaning = await store.search(scope, { terms: [], vector: { space, values: vector }, candidates: 10 })
  assert.equal(
    byMeaning.candidates.map(({ entry, cosine }) => [entry.id, cosine]),
    [['b', 1]],
  )
  db.close()
})

/** A database as it was before a change of schema, filled by `fill`. */
function olderThan(name: string, path: string, fill: (db: BetterSqlite3.Database) => void): void {
  const db = new BetterSqlite3(path)
  db.exec('CREATE TABLE migration (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT')
  const end = migrations.findIndex((migration) => migration.name === name)
  assert.ok(end > 0)
  for (const migration of migrations.slice(0, end)) {
    migration.up(db)
    db.prepare('INSERT INTO migration VALUES (?, 0)').run(migration.name)
  }
  fill(db)
  db.close()
}

test.run()
