// Some with --all only: a whole sample.

import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { MemoryStore, NewMemory, RetentionPolicy, Scope, Vector } from '../../../src/personas/memory/memory.ts'
import type { Database } from '../../../src/storage/sqlite/connection.ts'
import { openDatabase } from '../../../src/storage/sqlite/database.ts'
import { assertAgreeing } from '../../helpers/personas/memory-indexes.ts'
import { placeEmptyDatabase } from '../../helpers/storage/empty-database.ts'
import { memoryStoreOf, personaStoreOf } from '../../helpers/storage/test-storage.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('memories in SQLite')

const day = 86_400_000
const now = 1000 * day
const keepAll: RetentionPolicy = { maxMemories: 1e6, maxAge: Number.MAX_SAFE_INTEGER, cleanup: false, now }

interface Shelf {
  readonly folder: string
  readonly db: Database
  readonly store: MemoryStore
  scope(name: string): Promise<Scope>
}

async function withShelf(work: (shelf: Shelf) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'aichat-shelf-'))
  placeEmptyDatabase(folder)
  const db = await openDatabase(join(folder, 'aichat.db'))
  const personas = personaStoreOf(db)
  try {
    await work({
      folder,
      db,
      store: memoryStoreOf(db),
      async scope(name) {
        const times = { created_at: 0, updated_at: 0 }
        await personas.save({ id: name, user_id: 'u', name, model: 'm', parameters: {}, ...times })
        return { personaId: name, userId: 'u' }
      },
    })
  } finally {
    db.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function memory(content: string, more: Partial<NewMemory> = {}): NewMemory {
  return { content, timestamp: now, importance_score: 0.5, metadata: {}, ...more }
}

/** A unit vector of that seed, near to no other's. */
function vectorOf(seed: number, dimension: number): Vector {
  let state = seed + 1
  const values = Float32Array.from({ length: dimension }, () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9
    return (state >>> 8) / 2 ** 23 - 1
  })
  const length = Math.hypot(...values)
  const space = { key: `s/${dimension}`, model: 's', dimension }
  return { space, values: values.map((value) => value / length) }
}

test('wiped give their pages back', () =>
  withShelf(async ({ folder, db, store, scope }) => {
    const mine = await scope('p')
    const size = () => {
      db.pragma('wal_checkpoint(TRUNCATE)')
      return statSync(join(folder, 'aichat.db')).size
    }
    const before = size()
    await store.add(
      mine,
      Array.from({ length: 400 }, (_, at) => memory(`Thing ${at}`, { vector: vectorOf(at, 768) })),
      keepAll,
    )
    await store.wipe(mine, { before: now - 1 })
    await store.wipe(mine, {})
    assert.ok(size() - before < 200_000, `${size() - before} bytes are left of it`)
  }))

test.whole('go in many short writes where many have to go, and never more than their number of rows in one', () =>
  withShelf(async ({ db, store, scope }) => {
    const mine = await scope('p')
    const writes = countWrites(db, 'memory')
    const fill = (from: number, count: number) =>
      store.add(
        mine,
        Array.from({ length: count }, (_, at) => memory(`Thing ${from + at}`, { importance_score: at / count })),
        keepAll,
      )
    const bounded = async (deed: () => Promise<unknown>, gone: number) => {
      writes.length = 0
      let turns = 0
      const count = () => {
        turns++
        counting = setImmediate(count)
      }
      let counting = setImmediate(count)
      await deed()
      clearImmediate(counting)
      assert.is(
        writes.reduce((sum, rows) => sum + rows, 0),
        gone,
      )
      assert.ok(Math.max(...writes) <= 50, `${Math.max(...writes)} rows in one write`)
      assert.ok(turns >= gone / 50, `${turns} turns`)
      assertAgreeing(db)
    }
    await fill(0, 700)
    const policy: RetentionPolicy = { ...keepAll, maxMemories: 200, cleanup: true }
    await bounded(() => store.add(mine, [memory('The last')], policy), 501)
    await bounded(() => store.clean(mine, { ...policy, maxMemories: 50 }), 150)
    const left = await store.list(mine, { limit: 100, offset: 0 })
    assert.is(left.total, 50)
    assert.ok(left.entries.every(({ importance_score }) => importance_score > 0.9))
    await bounded(() => store.clean(mine, { ...policy, maxAge: 1000, now: now + 2000 }), 50)
    await fill(700, 300)
    await bounded(() => store.wipe(mine, { before: now + 1 }), 300)
    await fill(1000, 300)
    await bounded(() => store.wipe(mine, {}), 300)
    await fill(1300, 300)
    await bounded(() => personaStoreOf(db).remove('p', 'u'), 300)
    assert.is(db.prepare('SELECT count(*) FROM persona').pluck().get(), 0)
    // Long ones go in fewer at once, since their words weigh more than their rows.
    const long = await scope('long')
    const words = (at: number) => Array.from({ length: 3000 }, (_, word) => `w${at}x${word}`).join(' ')
    await store.add(
      long,
      Array.from({ length: 12 }, (_, at) => memory(words(at).slice(0, 20_000))),
      keepAll,
    )
    writes.length = 0
    await store.wipe(long, {})
    assert.is(Math.max(...writes), 1)
  }),
)

/** Writes into the list that is returned how many rows of a table each transaction removes, or changes otherwise. */
function countWrites(db: Database, table: string, change = 'DELETE'): number[] {
  const writes: number[] = []
  let last = -1
  db.function(`note_${table}`, () => {
    // Pages are given back and slices begun by statements of their own; a removal in the same turn is of the same write.
    const turn = Math.trunc(turnNumber)
    if (turn === last) writes[writes.length - 1]!++
    else writes.push(1)
    last = turn
    return 0
  })
  db.exec(`CREATE TEMP TRIGGER note_${table} AFTER ${change} ON ${table} BEGIN SELECT note_${table}(); END`)
  return writes
}

/** Counts the turns of the loop, as long as this process has something else to do. */
let turnNumber = 0
const countTurns = () => {
  turnNumber++
  setImmediate(countTurns).unref()
}
countTurns()

test('that leave are seen by nobody from the first write on, and the next process removes what one had begun', () =>
  withShelf(async ({ folder, db, store, scope }) => {
    const mine = await scope('p')
    await store.add(
      mine,
      Array.from({ length: 300 }, (_, at) => memory(`Thing ${at}`)),
      keepAll,
    )
    const personas = personaStoreOf(db)
    const removing = personas.remove('p', 'u')
    // The first write was done before anything was waited for.
    assert.equal([await personas.find('p'), await personas.list('u')], [undefined, []])
    assert.equal(await store.list(mine, { limit: 10, offset: 0 }), { entries: [], total: 0 })
    assert.equal((await store.search(mine, { terms: ['thing'], candidates: 10 })).candidates, [])
    await rejects(store.add(mine, [memory('x')], keepAll), /No persona "p"/)
    await new Promise((resolve) => setImmediate(resolve))
    db.close()
    await removing
    const again = await openDatabase(join(folder, 'aichat.db'))
    const left = () => again.prepare<[], number>('SELECT count(*) FROM memory').pluck().get()!
    assert.ok(left() > 0, 'the first process had no time for all of them')
    await memoryStoreOf(again).clear()
    assert.is(left(), 0)
    assert.is(again.prepare('SELECT count(*) FROM memory_text').pluck().get(), 0)
    assertAgreeing(again)
    again.close()
  }))

async function rejects(work: Promise<unknown>, message: RegExp): Promise<void> {
  try {
    await work
  } catch (reason) {
    return assert.match(String((reason as Error).message), message)
  }
  assert.unreachable()
}

test.run()
