// With --all only: a fault of PostgreSQL.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { ownPostgresSuite } from '../../helpers/postgres/suite.ts'

const { test, server, run } = ownPostgresSuite('a PostgreSQL of the tests')

test('what was committed is there after an orderly stop and after a crash, at the same address', async () => {
  await server().query('CREATE TABLE note (text text)')
  for (const mode of ['fast', 'immediate'] as const) {
    await server().query(`INSERT INTO note VALUES ('${mode}')`)
    await server().stop(mode)
    await assertRejects(() => server().query('SELECT 1'), /ECONNREFUSED/)
    await server().start()
  }
  assert.equal(await server().query('SELECT text FROM note ORDER BY text'), [['fast'], ['immediate']])
})

test('each new database is empty, or a copy of one that is idle', async () => {
  const nameOf = (address: string) => new URL(address).pathname.slice(1)
  const one = nameOf(await server().newDatabase())
  await server().query(`CREATE TABLE note AS SELECT E'two\\nlines' AS text, 7 AS n`, one)
  const [empty, copy] = await Promise.all([server().newDatabase(), server().newDatabase(one)])
  assert.equal(await server().query('SELECT text, n FROM note', nameOf(copy)), [['two\nlines', '7']])
  await assertRejects(() => server().query('SELECT text FROM note', nameOf(empty)), /42P01/)
})

test('a primary that turned read-only refuses writes with 25006 until it is writable again', async () => {
  const database = new URL(await server().newDatabase()).pathname.slice(1)
  await server().turn('read-only')
  await assertRejects(() => server().query('CREATE TABLE note (text text)', database), /25006/)
  await server().turn('writable')
  await server().query('CREATE TABLE note (text text)', database)
})

test('sessions of a database that are terminated end with 57P01', async () => {
  const database = new URL(await server().newDatabase()).pathname.slice(1)
  const asleep = server().query('SELECT pg_sleep(60)', database).then(String, String)
  // One that is terminated as it starts may end without a word.
  const sleeping = `SELECT 1 FROM pg_stat_activity WHERE datname = '${database}' AND wait_event = 'PgSleep'`
  while ((await server().query(sleeping)).length === 0);
  assert.is(await server().terminate(database), 1)
  assert.match(await asleep, /57P01/)
  // A backend says so before it is listed no more.
  while ((await server().terminate(database)) > 0);
})

test('it ends with a test that is killed, in order: it leaves no shared memory', async () => {
  const ending = import.meta.url.endsWith('.ts') ? '.ts' : '.js'
  const module = fileURLToPath(new URL(`./holding-child${ending}`, import.meta.url))
  const child = spawn(process.execPath, [...(ending === '.ts' ? ['--import', 'tsx'] : []), module], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let data = ''
  for await (const line of createInterface(child.stdout)) {
    data = /^data in (.+)$/.exec(line)?.[1] ?? ''
    if (data !== '') break
  }
  assert.ok(existsSync(join(data, 'postmaster.pid')))
  child.kill('SIGKILL')
  await once(child, 'exit')
  // The server removes it as the last step of an orderly end.
  while (existsSync(join(data, 'postmaster.pid'))) await new Promise((resolve) => setTimeout(resolve, 10))
  rmSync(dirname(data), { recursive: true })
})

run()

async function assertRejects(work: () => Promise<unknown>, message: RegExp): Promise<void> {
  const reason = await work().then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.match(String(reason), message)
}
