// With --all only: a fault of PostgreSQL.

import { EventEmitter, once } from 'node:events'
import * as assert from 'uvu/assert'
import { openDatabase } from '../../../src/storage/postgres/connection.ts'
import { translated } from '../../../src/storage/postgres/errors.ts'
import { databaseUser } from '../../helpers/postgres/databases.ts'
import { openHoldingWay, openWay } from '../../helpers/postgres/faults.ts'
import { havePgBouncer, openPgBouncer } from '../../helpers/postgres/pgbouncer.ts'
import { ownPostgresSuite } from '../../helpers/postgres/suite.ts'

const { test, server, run } = ownPostgresSuite('connections of one process')

test('where no further one can be made, a statement waits for one that works; it fails when that ends', async () => {
  const address = await server().newDatabase()
  const db = openDatabase(address)
  const limit = (most: number) => server().query(`ALTER ROLE ${databaseUser.name} CONNECTION LIMIT ${most}`)
  await limit(1)
  try {
    const steps = new EventEmitter()
    const [isBegun, isLet] = [once(steps, 'begun'), once(steps, 'let')]
    const long = db.transaction(async (tx) => {
      await tx.run('CREATE TABLE written (number int)')
      steps.emit('begun')
      await isLet
    })
    await isBegun
    const waiting = [1, 2, 3].map((number) => db.run('INSERT INTO written VALUES ($1)', [number]))
    assert.is(await Promise.race([...waiting, refusedOne(address)]), 'refused')
    steps.emit('let')
    await long
    assert.equal(await Promise.all(waiting), [1, 1, 1])

    const [sleeping, left] = [failsOf(db.run('SELECT pg_sleep(60)')), failsOf(db.run('INSERT INTO written VALUES (4)'))]
    while (!(await isSleeping(address)));
    // Its own attempt to connect began before this one.
    assert.is(await Promise.race([left, refusedOne(address)]), 'refused')
    await server().terminate(new URL(address).pathname.slice(1))
    await sleeping
    assert.is((translated(await left) as { code: string }).code, 'unavailable')
  } finally {
    await limit(-1)
    await db.close()
  }
})

test('any number of transactions wait for a place, and Node warns of no leak', async () => {
  const db = openDatabase(await server().newDatabase())
  const warnings: string[] = []
  const note = (warning: Error) => warnings.push(`${warning.name}: ${warning.message}`)
  process.on('warning', note)
  try {
    const sums = await Promise.all(
      Array.from({ length: 60 }, (_, at) => db.transaction((tx) => tx.row<{ sum: number }>(`SELECT ${at} + 1 AS sum`))),
    )
    assert.is(sums.at(-1)?.sum, 60)
    // Node emits a warning at the next tick.
    await new Promise(setImmediate)
    assert.equal(warnings, [])
  } finally {
    process.off('warning', note)
    await db.close()
  }
})

test('work that builds on a row which another transaction removes meanwhile is done again, three times at most', async () => {
  const db = openDatabase(await server().newDatabase())
  try {
    await db.transaction((tx) =>
      tx.script(`CREATE TABLE owner (id int PRIMARY KEY); CREATE TABLE owned (id int REFERENCES owner);
        INSERT INTO owner VALUES (1), (2)`),
    )
    let attempts = 0
    await db.transaction(async (tx) => {
      attempts++
      const { id } = (await tx.row<{ id: number }>('SELECT id FROM owner ORDER BY id'))!
      if (attempts === 1) await db.run('DELETE FROM owner WHERE id = 1')
      await tx.run('INSERT INTO owned VALUES ($1)', [id])
    })
    assert.is(attempts, 2)
    assert.equal(await db.rows('SELECT id FROM owned'), [{ id: 2 }])

    attempts = 0
    const never = await failsOf(
      db.transaction((tx) => {
        attempts++
        return tx.run('INSERT INTO owned VALUES (3)')
      }),
    )
    assert.equal([attempts, (never as { code: string }).code], [3, '23503'])
  } finally {
    await db.close()
  }
})

test('a statement whose connection fails waits for those that are being made, and fails with the last of them', async () => {
  const way = await openHoldingWay(server().port)
  const address = way.at(await server().newDatabase())
  const [db, other] = [openDatabase(address), openDatabase(address)]
  try {
    const burst = ['SELECT 1', 'SELECT 2'].map((text) => db.run(text))
    const [first, second] = [await way.next(), await way.next()]
    await first.end()
    // Makes no attempt of its own so soon behind one that failed.
    burst.push(db.run('SELECT 3'))
    second.pass()
    assert.equal(await Promise.all(burst), [1, 1, 1])

    const lost = ['SELECT 1', 'SELECT 2'].map(async (text) => translated(await failsOf(other.run(text))))
    for (const held of [await way.next(), await way.next()]) await held.end()
    for (const reason of await Promise.all(lost)) assert.is((reason as { code: string }).code, 'unavailable')
  } finally {
    await db.close()
    await other.close()
    await way.close()
  }
})

test('a network that passes nothing fails a statement of a command too, whose process polls nothing', async () => {
  const way = await openWay(server().port)
  const db = openDatabase(way.at(await server().newDatabase()), { longestSilence: 2000 })
  try {
    assert.equal(await db.rows('SELECT 1 AS one'), [{ one: 1 }])
    way.stall()
    const reason = await failsOf(db.transaction((tx) => tx.row('SELECT 1')))
    assert.is((translated(reason) as { code: string }).code, 'unavailable')
    assert.is((translated(await failsOf(db.rows('SELECT 1'))) as { code: string }).code, 'unavailable')
  } finally {
    await db.close()
    await way.close()
  }
})

test('modes of TLS are as strict as their name, and no command warns of them', async () => {
  const warned: string[] = []
  const warn = ({ message }: Error) => warned.push(message)
  process.on('warning', warn)
  try {
    for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full']) {
      const db = openDatabase(`${await server().newDatabase()}?sslmode=${mode}`)
      const reason = translated(await failsOf(db.rows('SELECT 1'))) as { code: string; message: string }
      assert.equal([reason.code, reason.message], ['configuration', 'The database cannot be reached over TLS'])
      await db.close()
    }
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(warned, [])
  } finally {
    process.off('warning', warn)
  }
})

if (havePgBouncer())
  test('a login that PgBouncer or the server behind it refuses is a mistake of the settings; a server that is away is none', async () => {
    const bouncer = await openPgBouncer(server().port)
    const address = new URL(bouncer.at(await server().newDatabase()))
    const codeAt = async (change: Partial<URL>) => {
      const db = openDatabase(Object.assign(new URL(address), change).href)
      try {
        return (translated(await failsOf(db.rows('SELECT 1'))) as { code: string }).code
      } finally {
        await db.close()
      }
    }
    try {
      assert.is(await codeAt({ password: 'wrong' }), 'configuration')
      assert.is(await codeAt({ username: 'stranger' }), 'configuration')
      assert.is(await codeAt({ pathname: '/none' }), 'configuration')
      await server().stop('immediate')
      assert.is(await codeAt({}), 'unavailable')
      await server().start()
    } finally {
      await bouncer.close()
    }
  })

run()

function failsOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => assert.unreachable('did not fail'),
    (reason) => reason,
  )
}

/** Resolves once the server refuses another connection of the role. */
async function refusedOne(address: string): Promise<string> {
  const db = openDatabase(address)
  const reason = await failsOf(db.rows('SELECT 1'))
  await db.close()
  assert.match((reason as { code: string }).code, /^53300$/)
  return 'refused'
}

async function isSleeping(address: string): Promise<boolean> {
  const name = new URL(address).pathname.slice(1)
  const [row] = await server().query(
    `SELECT count(*) FROM pg_stat_activity WHERE datname = '${name}' AND query LIKE 'SELECT pg_sleep%'`,
  )
  return row![0] === '1'
}
