import * as assert from 'uvu/assert'
import { postgresSuite } from './suite.ts'

const { test, server, run } = postgresSuite('a PostgreSQL of the tests')

test('what was committed is there after an orderly stop and after a crash, at the same address', async () => {
  await server().query('CREATE TABLE note (text text)')
  for (const mode of ['fast', 'immediate'] as const) {
    await server().query(`INSERT INTO note VALUES ('${mode}')`)
    await server().stop(mode)
    await assertRejects(() => server().query('SELECT 1'), /Connection refused/)
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

run()

async function assertRejects(work: () => Promise<unknown>, message: RegExp): Promise<void> {
  const reason = await work().then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.match(String(reason), message)
}
