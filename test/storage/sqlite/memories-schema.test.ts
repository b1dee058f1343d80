import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import * as assert from 'uvu/assert'
import { openDatabase } from '../../../src/storage/sqlite/database.ts'
import { migrations } from '../../../src/storage/sqlite/migrations.ts'
import { assertAgreeing } from '../../helpers/personas/memory-indexes.ts'
import { memoryStoreOf } from '../../helpers/storage/test-storage.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('memories of an earlier version')

const scope = { personaId: 'p', userId: 'u' }

/** A database as the first version left it, with memories of these contents, and the terms that it had made of them. */
function writeEarlier(
  path: string,
  memories: readonly (readonly [content: string, terms: string, context: string])[],
): void {
  const db = new BetterSqlite3(path)
  db.exec('CREATE TABLE migration (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT')
  for (const migration of migrations) {
    if (migration.name === 'memories-3') break
    migration.up(db)
    db.prepare('INSERT INTO migration VALUES (?, 0)').run(migration.name)
  }
  db.exec(`INSERT INTO persona (id, user_id, name, model, parameters, created_at, updated_at)
    VALUES ('p', 'u', 'p', 'm', '{}', 0, 0); INSERT INTO memory_scope VALUES (1, 'p', 'u', 0, 0, 0)`)
  memories.forEach(([content, terms, context], at) => {
    const number = 2 ** 24 + at + 1
    db.prepare(
      `INSERT INTO memory (memory_id, scope_id, id, content, digest, timestamp, importance, category, pinned, conversation,
         metadata) VALUES (?, 1, ?, ?, randomblob(32), 1000, 0.5, '', 0, '', '{}')`,
    ).run(number, `${at}`, content)
    db.prepare('INSERT INTO memory_terms VALUES (?, ?, ?, ?)').run(number, terms, '1 januari 1970', context)
    db.prepare(
      `INSERT INTO memory_text (rowid, content, about, context)
         SELECT memory_id, content, about, context FROM memory_indexed WHERE memory_id = ?`,
    ).run(number)
  })
  db.exec(`UPDATE memory_scope SET last_number = ${memories.length}, memories = ${memories.length},
    length = (SELECT sum(length(terms)) FROM memory_terms)`)
  db.close()
  writeFileSync(`${path}.initialised`, '')
}

test('are found by what is asked today, hold no empty term, and their days begin anew', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'aichat-earlier-'))
  const path = join(folder, 'aichat.db')
  try {
    writeEarlier(path, [
      ['\u0301 The cat \u0301', ' the cat ', '< vaudevill\n>  dog'],
      ['\u0301', '', ''],
      ['Vaudeville, Danielle', 'vaudevill daniell', '<<? the  cat '],
      ['I tell the dog', 'i tell the dog', '< '],
    ])
    const before = Date.now()
    const db = await openDatabase(path)
    assertAgreeing(db)
    const contexts = db.prepare('SELECT context FROM memory_terms ORDER BY memory_id').pluck().all()
    assert.equal(contexts, ['< vaudevil\n> dog', '', '<<? the cat', '< '])
    const store = memoryStoreOf(db)
    for (const [term, id] of [
      ['vaudevil', '2'],
      ['cat', '0'],
      ['tell', '3'],
    ] as const) {
      const { frequencies, candidates } = await store.search(scope, { terms: [term], candidates: 10 })
      assert.equal([...frequencies], [1], term)
      assert.ok(candidates.some(({ entry }) => entry.id === id))
    }
    // How long imported memories have been here is unknown: none of them goes with the first write.
    const policy = { maxMemories: 10, maxAge: 1000, cleanup: true, now: before }
    assert.equal(await store.clean(scope, policy), [])
    assert.is((await store.clean(scope, { ...policy, now: Date.now() + 2000 })).length, 4)
    assertAgreeing(db)
    db.close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test.run()
