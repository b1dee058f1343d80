// With --all only: PostgreSQL.

import * as assert from 'uvu/assert'
import { type InProcess, openInProcess } from '../../helpers/postgres/pglite.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('a PostgreSQL in this process')
let inProcess: InProcess

test.before(async () => {
  inProcess = await openInProcess()
})

test.after(() => inProcess.close())

test('values come back as the driver of the product gives them', async () => {
  const row = await inProcess.database().row<Record<string, unknown>>(
    `SELECT $1::bigint AS big, sum(n) AS sum, $2::bytea AS bytes, $3::text[] AS texts, $4::boolean AS flag, $5::text AS none,
       '[1,2]'::vector <#> '[3,4]' AS product FROM unnest($6::bigint[]) n`,
    [2 ** 40, Buffer.from([0, 255]), ['a', 'b"\\{,'], true, undefined, [2 ** 40, 2]],
  )
  const expected = { big: 2 ** 40, sum: 2 ** 40 + 2, texts: ['a', 'b"\\{,'], flag: true, none: null, product: -11 }
  const { bytes, ...others } = row!
  assert.equal(others, expected)
  assert.ok(Buffer.isBuffer(bytes))
  assert.equal([...(bytes as Buffer)], [0, 255])
})

test('a transaction is whole or nothing, and copies', async () => {
  const db = inProcess.database()
  await db.run('CREATE TABLE note (id bigint GENERATED ALWAYS AS IDENTITY, text text)')
  await assertRejects(
    db.transaction(async (tx) => {
      await tx.run('INSERT INTO note (text) VALUES ($1)', ['lost'])
      await tx.run('INSERT INTO nowhere VALUES (1)')
    }),
    '42P01',
  )
  const copied = await db.transaction(async (tx) => {
    await tx.copyIn('COPY note (text) FROM STDIN', [Buffer.from('one\ntw'), Buffer.from('o\n')])
    const pieces: Uint8Array[] = []
    for await (const piece of tx.copyOut('COPY (SELECT text FROM note ORDER BY text) TO STDOUT')) pieces.push(piece)
    return Buffer.concat(pieces).toString()
  })
  assert.is(copied, 'one\ntwo\n')
  assert.is(await db.run(`DELETE FROM note WHERE text = 'one'`), 1)
  assert.is(await db.run(`DELETE FROM note WHERE text = 'one'`), 0)
  assert.is(await db.run('SELECT text FROM note'), 1)
})

test('each of its databases hears of notifications until it is closed', async () => {
  const db = inProcess.database()
  let heard = 0
  const { rows } = await db.listen('aichat', () => void heard++)
  await db.transaction((tx) => tx.row(`SELECT pg_notify('aichat', 'one')`))
  assert.is(heard, 1)
  assert.equal(await rows('SELECT 1 AS one'), [{ one: 1 }])
  await db.close()
  await assertRejects(db.rows('SELECT 1'), '')
  await inProcess.database().row(`SELECT pg_notify('aichat', 'two')`)
  assert.is(heard, 1)
})

test('a reset leaves the rows that migrations made, and no others, and counts anew', async () => {
  const db = inProcess.database()
  const numbered = () => db.row<{ id: number }>(`INSERT INTO note (text) VALUES ('x') RETURNING id`)
  const migrations = await db.rows('SELECT name FROM migration')
  assert.ok(migrations.length > 0)
  const changes = await db.rows('SELECT * FROM change ORDER BY kind')
  await numbered()
  await db.run('UPDATE change SET number = number + 1')
  await inProcess.reset()
  assert.equal(await db.rows('SELECT name FROM migration'), migrations)
  assert.equal(await db.rows('SELECT * FROM change ORDER BY kind'), changes)
  assert.equal(await numbered(), { id: 1 })
})

test.run()

async function assertRejects(work: Promise<unknown>, code: string): Promise<void> {
  const reason = await work.then(
    () => assert.unreachable('resolved'),
    (reason: unknown) => reason,
  )
  assert.is((reason as { code?: string }).code ?? '', code)
}
