import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import * as assert from 'uvu/assert'
import { rows, run, sql } from '../../../src/storage/port/port.ts'
import { createChanges } from '../../../src/storage/sqlite/changes.ts'
import { openDatabase } from '../../../src/storage/sqlite/database.ts'
import { createSqliteDriver, runOn } from '../../../src/storage/sqlite/driver.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { withUsers } from '../../helpers/program/user-daemon.ts'
import { completion, json } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('statements that are compiled once')

test('a statement is compiled once at each connection, and survives a change of its table', async () => {
  const [one, other] = [new Database(':memory:'), new Database(':memory:')]
  for (const db of [one, other]) db.exec("CREATE TABLE t (a); INSERT INTO t VALUES ('x')")
  const read = (a: string) => rows(sql`SELECT * FROM t WHERE a = ${a}`)
  assert.equal(runOn(one, read('x')), [{ a: 'x' }])
  assert.equal(await compiledBy(async () => runOn(one, read('y'))), [])
  assert.is((await compiledBy(async () => runOn(other, read('x')))).length, 1)
  one.exec('ALTER TABLE t ADD b DEFAULT 2')
  assert.equal(runOn(one, read('x')), [{ a: 'x', b: 2 }])
  for (const db of [one, other]) db.close()
})

test('chats as a persona and in a session, memories and lists compile nothing that was compiled before', () =>
  withUsers(
    async ({ ada, persona }) => {
      const path = await persona({ memory_settings: { enabled: true } })
      const id = path.split('/').at(-1)!
      await ada('POST', '/api/sessions', { name: 'Talk' })
      const messages = [{ role: 'user', content: 'My cat Tom likes fish on Sundays.' }]
      const deeds: Readonly<Record<string, () => Promise<{ readonly status: number }>>> = {
        'a chat as a persona': () => ada('POST', '/api/chat', { persona: id, messages }),
        'a chat in a session': () => ada('POST', '/api/chat', { session: 'Talk', messages }),
        'a kept chat': () => ada('POST', '/api/chat', { keep: true, messages }),
        'a memory': () => ada('POST', `${path}/memory`, { content: 'Tom is a cat.' }),
        'a search': () => ada('POST', `${path}/memory/search`, { query: 'cat' }),
        'the sessions': () => ada('GET', '/api/sessions'),
        'a session': () => ada('GET', '/api/sessions/Talk'),
        'the personas': () => ada('GET', '/api/personas'),
      }
      for (const [name, work] of Object.entries(deeds)) {
        assert.ok((await work()).status < 300, name)
        // The work after an answer, such as the first batch of the ledger, may compile its own beside one of them.
        let compiled: readonly string[] = await compiledBy(work)
        for (let again = 0; compiled.length > 0 && again < 20; again++) compiled = await compiledBy(work)
        assert.equal(compiled, [], name)
      }
    },
    { provider: (_request, response) => json(response, 200, completion('He does.')) },
  ))

test('writes reach the disk off the event loop, those of one moment with one flush', async () => {
  const db = await openDatabase(join(temporaryFolder(), 'a.db'))
  db.exec('CREATE TABLE t (a)')
  const driver = createSqliteDriver(
    db,
    createChanges(db, () => ''),
    async () => {},
  )
  const { open } = fs.promises
  let flushes = 0
  fs.promises.open = (...given) => {
    flushes++
    return open(...given)
  }
  syncBuiltinESMExports()
  try {
    await Promise.all(Array.from({ length: 20 }, (_, a) => driver.write(() => run(sql`INSERT INTO t VALUES (${a})`))))
  } finally {
    fs.promises.open = open
    syncBuiltinESMExports()
  }
  assert.equal([flushes, db.prepare('SELECT count(*) FROM t').pluck().get()], [1, 20])
  db.close()
})

test.run()

/** The texts that are compiled in this process meanwhile. */
async function compiledBy(work: () => Promise<unknown>): Promise<readonly string[]> {
  const { prototype } = Database
  const { prepare } = prototype
  const texts: string[] = []
  prototype.prepare = function (this: Database.Database, text: string) {
    texts.push(text)
    return prepare.call(this, text)
  } as typeof prepare
  try {
    await work()
  } finally {
    prototype.prepare = prepare
  }
  return texts
}
