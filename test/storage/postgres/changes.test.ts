// With --all only: PostgreSQL.

import * as assert from 'uvu/assert'
import { createChanges, type OwnChanges } from '../../../src/storage/postgres/changes.ts'
import { openDatabase } from '../../../src/storage/postgres/connection.ts'
import { inOneQuery } from '../../../src/storage/postgres/in-one-query.ts'
import { eventually } from '../../helpers/eventually.ts'
import { closesInHandshake, openWay } from '../../helpers/postgres/faults.ts'
import { postgresSuite } from '../../helpers/postgres/suite.ts'

const { test, server, run } = postgresSuite('changes of a shared database')

const write = (changes: OwnChanges) => changes.writing('accounts', async (tx) => void (await tx.row('SELECT 1')))

test('a write changes the mark here at once, and at another process that polls soon after', async () => {
  await withTwo(async (one, two) => {
    const before = [one.mark('accounts'), two.mark('accounts')]
    const heard = new Promise<void>((resolve) => two.onChange('accounts', resolve))
    await write(one)
    assert.is.not(one.mark('accounts'), before[0])
    await heard
    assert.is.not(two.mark('accounts'), before[1])
    assert.ok(before[0] !== undefined && before[1] !== undefined)
  })
})

test('marks of other kinds stay as they are', async () => {
  await withTwo(async (one, two) => {
    const heard = new Promise<void>((resolve) => two.onChange('accounts', resolve))
    const before = two.mark('plugins')
    await write(one)
    await heard
    assert.is(two.mark('plugins'), before)
    assert.is(two.hasLimits(), false)
  })
})

test('a listener whose connection is ended hears again, and a single end is no absence', async () => {
  const url = await server().newMigrated()
  await withTwo(async (one, two) => {
    let absences = 0
    two.onAway(() => void absences++)
    assert.ok((await server().terminate(new URL(url).pathname.slice(1))) >= 2)
    const heard = new Promise<void>((resolve) => two.onChange('accounts', resolve))
    await eventually(() =>
      write(one).then(
        () => true,
        () => undefined,
      ),
    )
    await heard
    assert.is(absences, 0)
  }, url)
})

test('marks of accounts end a second after the last answer, those of plugins with the grace; both come back', async () => {
  const url = await server().newMigrated()
  const way = await openWay(server().port)
  let clock = 0
  const db = openDatabase(url)
  const distant = openDatabase(way.at(url))
  const changes = createChanges(distant, { graceMs: 30_000, now: () => clock + performance.now() })
  try {
    await changes.ask()
    changes.watch()
    const heard = new Promise<void>((resolve) => changes.onChange('accounts', resolve))
    await write(createChanges(db))
    await heard
    way.stall()
    const away = new Promise<unknown>((resolve) => changes.onAway(resolve))
    assert.match(String(await away), /did not answer within \d+ ms/)
    assert.is(changes.mark('accounts'), undefined)
    assert.ok(changes.mark('plugins'))
    assert.ok(changes.isUsable())
    clock = 30_000
    assert.is(changes.mark('plugins'), undefined)
    assert.not.ok(changes.isUsable())
    const back = new Promise<unknown>((resolve) => changes.onAway(resolve))
    way.resume()
    assert.is(await back, undefined)
    assert.ok(changes.mark('accounts'))
  } finally {
    await changes.close()
    await distant.close()
    await db.close()
    await way.close()
  }
})

test('a server that closes in the handshake is asked at most ten times a second, and every statement fails', async () => {
  const closing = await closesInHandshake()
  const db = openDatabase(closing.at(await server().newMigrated()))
  const changes = createChanges(db, { graceMs: 0 })
  try {
    const begun = performance.now()
    changes.watch()
    await new Promise((resolve) => changes.onAway(resolve))
    let failures = 0
    while (closing.attempts() < 8) {
      await db.rows('SELECT 1').then(
        () => assert.unreachable(),
        () => failures++,
      )
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.ok(failures > 8)
    assert.ok(closing.attempts() <= 10 * Math.ceil((performance.now() - begun) / 1000), 'attempts')
  } finally {
    await changes.close()
    await db.close()
    await closing.close()
  }
})

test('rows that are asked for together take one query, each with its own row', async () => {
  const asked: string[][] = []
  const read = inOneQuery(async (ids) => {
    asked.push([...ids])
    return new Map(ids.filter((id) => id !== 'none').map((id) => [id, id.toUpperCase()]))
  })
  assert.equal(await Promise.all(['a', 'b', 'none', 'a'].map(read)), ['A', 'B', undefined, 'A'])
  assert.is(await read('c'), 'C')
  assert.equal(asked, [['a', 'b', 'none'], ['c']])
})

run()

/** Two processes, as it were, that poll one database. */
async function withTwo(work: (one: OwnChanges, two: OwnChanges) => Promise<void>, url?: string): Promise<void> {
  const address = url ?? (await server().newMigrated())
  const databases = [openDatabase(address), openDatabase(address)] as const
  const [one, two] = databases.map((db) => createChanges(db)) as [OwnChanges, OwnChanges]
  try {
    for (const changes of [one, two]) {
      await changes.ask()
      changes.watch()
    }
    await work(one, two)
  } finally {
    for (const changes of [one, two]) await changes.close()
    for (const db of databases) await db.close()
  }
}
