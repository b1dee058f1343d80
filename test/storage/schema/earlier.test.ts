import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import * as assert from 'uvu/assert'
import { readSearch } from '../../../src/personas/chat/search-words.ts'
import { formerTables } from '../../../src/storage/schema/tables.ts'
import { earlierChanges, schemaName } from '../../../src/storage/schema/version.ts'
import { openDatabase } from '../../../src/storage/sqlite/database.ts'
import { normalForm, objectsIn } from '../../../src/storage/sqlite/schema.ts'
import { assertAgreeing } from '../../helpers/personas/memory-indexes.ts'
import { dumpOf } from '../../helpers/storage/dump.ts'
import { makeRichFolder } from '../../helpers/storage/rich-folder.ts'
import { keepAll, memory } from '../../helpers/storage/samples.ts'
import { openStorageIn } from '../../helpers/storage/test-storage.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('a data folder of an earlier build')

/** Runs with an empty folder and removes it. */
async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'aichat-earlier-'))
  try {
    await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Makes an empty database as a build of that day made it, with the names of its changes. */
function openEarlier(folder: string, day: string, changes: readonly string[]): BetterSqlite3.Database {
  const db = new BetterSqlite3(join(folder, 'aichat.db'))
  db.exec(readFileSync(join('test/storage/schema', `build-${day}.sql`), 'utf8'))
  const insert = db.prepare('INSERT INTO migration VALUES (?, 0)')
  for (const name of changes) insert.run(name)
  writeFileSync(join(folder, 'aichat.db.initialised'), '')
  return db
}

/** The objects of a database, with the definitions of a table in any order. */
async function schemaOf(folder: string): Promise<readonly string[]> {
  const db = await openDatabase(join(folder, 'aichat.db'))
  try {
    return objectsIn(db)
      .map(({ type, name, sql }) => `${type} ${name}: ${type === 'table' ? [...partsOf(sql)].sort() : normalForm(sql)}`)
      .sort()
  } finally {
    db.close()
  }
}

test('of 24 November 2026 keeps every row of every table, and has the schema of a new one', () =>
  withFolder((present) =>
    withFolder(async (earlier) => {
      await makeRichFolder(present)
      const old = openEarlier(earlier, '2026-11-24', earlierChanges)
      const triggers = objectsIn(old).filter(({ type }) => type === 'trigger')
      for (const { name } of triggers) old.exec(`DROP TRIGGER ${name}`)
      old.prepare('ATTACH ? AS present').run(join(present, 'aichat.db'))
      old.pragma('foreign_keys = OFF')
      const tables = objectsIn(old).filter(
        ({ type, name }) => type === 'table' && !['migration', 'memory_text', ...formerTables].includes(name),
      )
      for (const { name, sql } of tables) {
        const columns = old.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(name)
        const names = columns.map((column) => `"${column}"`)
        const list = [...(/WITHOUT ROWID/.test(sql) ? [] : ['rowid']), ...names].join(', ')
        old.exec(`DELETE FROM "${name}"; INSERT INTO "${name}" (${list}) SELECT ${list} FROM present."${name}"`)
      }
      old.exec("INSERT INTO memory_text (memory_text) VALUES ('rebuild')")
      for (const { sql } of triggers) old.exec(sql)
      old.close()
      const storage = await openStorageIn(earlier)
      await storage.close()
      // Tables that came later are empty.
      assert.equal(dumpOf(earlier), {
        ...dumpOf(present),
        conversation_file: [],
        persona_profile: [],
        plugins: [],
        backups: [],
      })
      assert.equal(await schemaOf(earlier), await schemaOf(present))
    }),
  ))

/** Rows of each kind that the build of 21 November 2026 knew. */
const rowsOfNovember21 = `
  INSERT INTO user VALUES ('a', '\u0430dmin', '\u0430dmin', NULL, NULL, 'hash', 'admin', 0, 0, 1, 1);
  INSERT INTO login_session VALUES ('s', 'a', 1, 4102444800000);
  INSERT INTO audit VALUES (7, 1, 'users.create', 'a', 'a', '::1', 'ok');
  INSERT INTO persona (id, user_id, name, model, parameters, created_at, updated_at)
    VALUES ('p', 'a', 'Ada', 'm', '{}', 0, 0), ('empty', 'a', 'Eve', 'm', '{}', 0, 0);
  INSERT INTO memory_scope VALUES (1, 'p', 'a', 5, 5, 0);
  INSERT INTO embedding_space VALUES (1, 'k', 'm', 2);
  INSERT INTO adaptation VALUES ('p', 1, 'r1', 'once', '{"n":1}'), ('p', 2, 'r2', NULL, '{"n":2}');
  INSERT INTO persona_state VALUES ('p', 'a1', 2, 'h', '{}');
  INSERT INTO persona_carried VALUES ('p', '{"x":1}');
  INSERT INTO conversation VALUES ('c', 'a', 'talk', 'p', 1, 2);
  INSERT INTO conversation_message VALUES ('c', 1, '{"role":"user","content":"the hippopotamus"}', 2);`

/** Contents with the terms that the stemmer of that day made of them, and the terms of their neighbours. */
const memoriesOfNovember21 = [
  ['\u0301 The cat \u0301', ' the cat ', '< vaudevill\n>  dog', '{}'],
  ['\u0301', '', '', '{}'],
  ['Vaudeville, Danielle', 'vaudevill daniell', '<<? the  cat ', '{"speaker":"ada"}'],
  ["I tell the dog of l'hôtel", "i tell the dog of l'hôtel", '< ', '{"keys":["dog"]}'],
  ['nine lives', 'nine life', '', '{}'],
] as const

const changesOfNovember21 = 'accounts-1 adaptations-1 conversations-1 memories-1 memories-2 packages-1 personas-1'

async function makeNovember21(folder: string): Promise<void> {
  const db = openEarlier(folder, '2026-11-21', changesOfNovember21.split(' '))
  db.exec(rowsOfNovember21)
  memoriesOfNovember21.forEach(([content, terms, context, metadata], at) => {
    const number = 2 ** 24 + at + 1
    db.prepare(`INSERT INTO memory VALUES (?, 1, ?, ?, randomblob(32), 1000, 0.5, '', 0, '', ?)`).run(
      number,
      `${at}`,
      content,
      metadata,
    )
    db.prepare('INSERT INTO memory_terms VALUES (?, ?, ?, ?)').run(number, terms, '1 januari 1970', context)
    db.prepare(
      `INSERT INTO memory_text (rowid, content, about, context)
         SELECT memory_id, content, about, context FROM memory_indexed WHERE memory_id = ?`,
    ).run(number)
  })
  db.prepare('INSERT INTO memory_vector VALUES (?, 1, ?)').run(
    2 ** 24 + 1,
    Buffer.from(Float32Array.of(0.6, 0.8).buffer),
  )
  db.prepare("INSERT INTO memory_sketch VALUES (?, 1, x'03')").run(2 ** 24 + 1)
  db.exec('UPDATE memory_scope SET length = (SELECT sum(length(terms)) FROM memory_terms)')
  db.close()
}

const ada = { personaId: 'p', userId: 'a' }

test('of 21 November 2026 has the schema of a new one, and its rows are found, counted and logged', () =>
  withFolder(async (folder) => {
    await makeNovember21(folder)
    const before = Date.now()
    const storage = await openStorageIn(folder)
    const db = await openDatabase(join(folder, 'aichat.db'))
    try {
      assertAgreeing(db)
      const contexts = db.prepare('SELECT context FROM memory_terms ORDER BY memory_id').pluck().all()
      assert.equal(contexts, ['< vaudevil\n> dog', '', '<<? the cat', '< ', ''])
      for (const [term, id] of Object.entries({ vaudevil: '2', cat: '0', hotel: '3', live: '4' })) {
        const { frequencies, candidates } = await storage.memories.search(ada, { terms: [term], candidates: 10 })
        assert.equal([...frequencies], [1], term)
        assert.ok(candidates.some(({ entry }) => entry.id === id))
      }
      const values = Float32Array.of(0.6, 0.8)
      const vector = { space: { key: 'k', model: 'm', dimension: 2 }, values }
      const byMeaning = await storage.memories.search(ada, { terms: [], vector, candidates: 10 })
      assert.equal(
        byMeaning.candidates.map(({ entry }) => entry.id),
        ['0'],
      )
      // How long imported memories have been here is unknown: none of them goes with the first write.
      const policy = { maxMemories: 10, maxAge: 1000, cleanup: true, now: before }
      assert.equal(await storage.memories.clean(ada, policy), [])

      assert.equal(db.prepare('SELECT username_look FROM user').pluck().all(), ['admin'])
      assert.equal(
        db
          .prepare('SELECT sequence, record FROM adaptation JOIN adaptation_log USING (log_id) ORDER BY sequence')
          .raw()
          .all(),
        [
          [1, '{"n":1}'],
          [2, '{"n":2}'],
        ],
      )
      const search = { groups: readSearch('hippo*'), limit: 9, offset: 0 }
      assert.equal(
        (await storage.conversations.search('a', search)).map(({ saved }) => saved.timestamp),
        [2],
      )
      const used = db.prepare('SELECT memories, bytes FROM user_usage').get() as { memories: number; bytes: number }
      assert.is(used.memories, 5)
      assert.ok(used.bytes > 100)
      assert.equal(db.prepare('SELECT count(*) FROM persona_revision').pluck().get(), 2)
      assert.ok((db.prepare('SELECT lore FROM memory_scope').pluck().get() as number) > 0)

      await storage.memories.add(ada, [memory('cocoa')], keepAll)
      await storage.conversations.remove('a', 'c')
      const words = db.prepare('SELECT quote(block) FROM conversation_text_data').pluck().all().join('')
      assert.not.match(words, Buffer.from('hippopotamus').toString('hex').toUpperCase())
      const beside = await openDatabase(join(folder, 'aichat.db'))
      assertAgreeing(beside)
      beside.close()
    } finally {
      db.close()
      await storage.close()
    }
    await withFolder(async (present) => {
      await (await openStorageIn(present)).close()
      assert.equal(await schemaOf(folder), await schemaOf(present))
    })
  }))

test('whose conversion fails half-way stays as it was, and is opened when the reason is gone', () =>
  withFolder(async (folder) => {
    await makeNovember21(folder)
    const path = join(folder, 'aichat.db')
    const old = new BetterSqlite3(path)
    old.exec('CREATE TABLE earlier_adaptation (in_the_way TEXT)')
    old.close()
    try {
      await openDatabase(path)
      assert.unreachable()
    } catch (reason) {
      assert.match(String((reason as Error).message), /earlier_adaptation/)
    }
    const db = new BetterSqlite3(path)
    assert.is(db.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'adaptation_log'").pluck().get(), 0)
    assert.is(db.prepare("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'").pluck().get(), 1)
    db.exec('DROP TABLE earlier_adaptation')
    db.close()
    const repaired = await openDatabase(path)
    assert.equal(repaired.prepare('SELECT name FROM migration ORDER BY rowid DESC').pluck().get(), schemaName)
    repaired.close()
  }))

test.run()

/** The definitions of a table's columns and constraints in any order, and what follows them. */
function partsOf(create: string): ReadonlySet<string> {
  const text = normalForm(create)
  const parts: string[] = []
  let depth = 0
  let from = text.indexOf('(') + 1
  for (let at = from - 1; at < text.length; at++) {
    if (text[at] === '(') depth++
    else if (text[at] === ')') depth--
    if ((text[at] === ',' && depth === 1) || (text[at] === ')' && depth === 0)) {
      parts.push(text.slice(from, at))
      from = at + 1
    }
  }
  return new Set([...parts, text.slice(from)])
}
