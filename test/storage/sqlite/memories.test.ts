// Some with --all only: a whole sample.

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { MemoryStore, NewMemory, RetentionPolicy, Scope, Vector } from '../../../src/personas/memory/memory.ts'
import type { Database } from '../../../src/storage/sqlite/connection.ts'
import { openDatabase } from '../../../src/storage/sqlite/database.ts'
import { deferCleanup } from '../../../src/storage/sqlite/housekeeping.ts'
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

test('that were wiped are in no byte of the files any more, nor is what was said around them', () =>
  withShelf(async ({ folder, db, store, scope }) => {
    const mine = await scope('p')
    const metadata = { conversation: 'c', category: 'secret' }
    const vector = vectorOf(7, 64)
    const traces = [Buffer.from('zanzibarquux'), Buffer.from('zzwipedid'), Buffer.from(vector.values.buffer)]
    const secret = memory('The zanzibarquux lies under the stone', { id: 'zzwipedid', vector, metadata })
    const others = Array.from({ length: 300 }, (_, at) =>
      memory(`Another thing, number ${at}`, { timestamp: now + at * 1000, metadata: { conversation: 'c' } }),
    )
    const deeds: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['a category', () => store.wipe(mine, { category: 'secret' })],
      ['everything', () => store.wipe(mine, {})],
      ['clean-up', () => store.clean(mine, { ...keepAll, cleanup: true, maxAge: 0, now: now + 1 })],
    ]
    for (const [name, deed] of deeds) {
      await store.add(mine, [secret, ...others.slice(0, 150)], keepAll)
      await store.add(mine, others.slice(150), keepAll)
      for (const trace of traces) assert.ok(occursIn(folder, trace), `${trace} was never there`)
      await deed()
      // The record of an eviction names the memory's id, on purpose.
      const gone = name === 'clean-up' ? traces.filter((trace) => trace !== traces[1]) : traces
      for (const trace of gone)
        assert.not(occursIn(folder, trace), `after wiping ${name}: ${trace.toString('latin1', 0, 20)}`)
      assertAgreeing(db)
      await store.wipe(mine, {})
    }
  }))

function occursIn(folder: string, bytes: Buffer): boolean {
  return readdirSync(folder).some((file) => readFileSync(join(folder, file)).includes(bytes))
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

test('go in the very transaction that stores too many, with a record of what went and why', () =>
  withShelf(async ({ db, store, scope }) => {
    const mine = await scope('p')
    const policy: RetentionPolicy = { maxMemories: 3, maxAge: 90 * day, cleanup: true, now }
    const old = memory('old', { id: 'old', stored_at: now - 91 * day })
    const pinned = memory('pinned', {
      id: 'pinned',
      stored_at: now - 400 * day,
      importance_score: 0,
      metadata: { pinned: true },
    })
    const dull = memory('dull', { id: 'dull', importance_score: 0.1 })
    await store.add(mine, [old, pinned, dull, memory('dear', { id: 'dear', importance_score: 0.9 })], keepAll)

    db.exec(
      "CREATE TEMP TRIGGER no_record BEFORE INSERT ON memory_eviction BEGIN SELECT raise(ABORT, 'no record'); END",
    )
    await rejects(store.add(mine, [memory('new', { id: 'new' })], policy), /no record/)
    db.exec('DROP TRIGGER no_record')
    assert.equal(await ids(store, mine), ['dear', 'dull', 'old', 'pinned'])
    assertAgreeing(db)

    const { evicted } = await store.add(mine, [memory('new', { id: 'new' })], policy)
    const told = evicted.map(({ memory_id, reason, evicted_at }) => [memory_id, reason, evicted_at])
    assert.equal(told, [
      ['old', 'retention_days', now],
      ['dull', 'max_memories', now],
    ])
    assert.equal(await ids(store, mine), ['dear', 'new', 'pinned'])
    assert.equal([...(await store.evictions(mine, 10))].reverse(), evicted)
    assertAgreeing(db)
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

test.whole('that are too many go a few slices at a time where a caller waits, and no more once the service stops', () =>
  withShelf(async ({ db, store, scope }) => {
    const mine = await scope('p')
    const writes = countWrites(db, 'memory')
    const all = Array.from({ length: 700 }, (_, at) => memory(`Thing ${at}`, { importance_score: at / 700 }))
    await store.add(mine, all, keepAll)
    const policy: RetentionPolicy = { ...keepAll, maxMemories: 1, cleanup: true }
    let rounds = 0
    for (let more = true; more; rounds++) {
      const before = (await store.list(mine, { limit: 1, offset: 0 })).total
      more = await store.trim(mine, policy)
      const { total } = await store.list(mine, { limit: 1, offset: 0 })
      assert.ok(total < before && before - total <= 500, `${before} to ${total}`)
    }
    assert.ok(rounds >= 2, `${rounds} rounds`)
    assert.ok(Math.max(...writes) <= 50, `${Math.max(...writes)} rows in one write`)
    assert.is((await store.list(mine, { limit: 10, offset: 0 })).total, 1)
    assertAgreeing(db)
    await store.add(mine, all, keepAll)
    deferCleanup(db)
    await store.trim(mine, policy)
    assert.is((await store.list(mine, { limit: 1, offset: 0 })).total, 700)
  }),
)

test('that are many too many go in the order in which they stand, so that few that stay are written anew', () =>
  withShelf(async ({ db, store, scope }) => {
    const mine = await scope('p')
    // Importance has nothing to do with the order.
    const all = Array.from({ length: 400 }, (_, at) =>
      memory(`Thing ${at}`, { timestamp: now + at, importance_score: ((at * 37) % 101) / 101 }),
    )
    await store.add(mine, all, keepAll)
    const gone = countWrites(db, 'memory')
    const renewed = countWrites(db, 'memory_terms', 'UPDATE OF context')
    for (let more = true; more; ) more = await store.trim(mine, { ...keepAll, maxMemories: 1, cleanup: true })
    const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)
    assert.is(sum(gone), 399)
    assert.ok(sum(renewed) < 200, `${sum(renewed)} written anew for 399 that went`)
    assert.ok(Math.max(...gone) + Math.max(...renewed) <= 16 + 6, `${Math.max(...gone)}, ${Math.max(...renewed)}`)
    assertAgreeing(db)
    const [last] = (await store.list(mine, { limit: 1, offset: 0 })).entries
    const best = all.toSorted((a, b) => b.importance_score - a.importance_score || b.timestamp - a.timestamp)[0]!
    assert.is(last!.content, best.content)
  }))

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

test('that share one time are put beside their neighbours by a look at those, not at all of that time', () =>
  withShelf(async ({ db, store, scope }) => {
    const mine = await scope('p')
    const asked: string[] = []
    const prepare = db.prepare.bind(db)
    db.prepare = ((sql: string) => {
      asked.push(sql)
      return prepare(sql)
    }) as typeof db.prepare
    const tied = memoryStoreOf(db)
    await tied.add(
      mine,
      Array.from({ length: 60 }, (_, at) => memory(`Thing ${at}`, { id: `${at}` })),
      keepAll,
    )
    await tied.add(mine, [memory('New', { id: 'new' })], { ...keepAll, cleanup: true, maxMemories: 30 })
    await tied.list(mine, { limit: 5, offset: 0, since: now })
    await tied.list(mine, { limit: 5, offset: 0, category: '', since: now })
    await tied.categories(mine, {})
    await tied.wipe(mine, { before: now })
    await tied.wipe(mine, { category: 'x' })
    await tied.search(mine, { terms: ['thing'], candidates: 10 })
    db.prepare = prepare
    const plans = asked
      .filter((sql) => /^\s*(?:SELECT|DELETE|UPDATE)/.test(sql) && /\bmemory\b/.test(sql))
      .map((sql) => {
        const parameters = /@\w/.test(sql) ? [{}] : []
        const names = [...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, 0])
        const count = sql.split('?').length - 1
        const given = parameters.length > 0 ? [Object.fromEntries(names)] : Array.from({ length: count }, () => 0)
        const steps = prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...given)
        return { sql, steps: steps.map(({ detail }) => detail) }
      })
    assert.ok(plans.length > 15)
    for (const { sql, steps } of plans)
      for (const step of steps) {
        assert.not.match(step, /^SCAN (?:memory|memory_terms|memory_vector)\b/, sql)
        // A wipe before a time, of a category, is in that order; the least worth is, too.
        assert.not.match(step, /TEMP B-TREE/, `${sql}\n${steps.join('\n')}`)
      }
    const neighbours = plans.filter(({ sql }) => /AND conversation = @conversation/.test(sql))
    assert.is(neighbours.length, 4)
    for (const { steps } of neighbours)
      assert.match(steps.join(), /timestamp=\? AND memory_id[<>]\?|timestamp>\? AND timestamp<\?/)
    // The order of one time is that of the storing.
    const { candidates } = await store.search(mine, { terms: ['new'], candidates: 10 })
    assert.match(candidates.find(({ entry }) => entry.id === 'new')!.context, /^< thing 59/)
  }))

test('of the greatest length are written once each, and not again with every neighbour', () =>
  withShelf(async ({ db, store, scope }) => {
    const mine = await scope('p')
    let characters = 0
    db.function('note_index', (terms, context) => {
      characters += String(terms).length + String(context).length
      return 0
    })
    db.exec(`CREATE TEMP TRIGGER note_terms AFTER INSERT ON memory_terms BEGIN SELECT note_index(new.terms, new.context); END;
      CREATE TEMP TRIGGER note_context AFTER UPDATE ON memory_terms BEGIN SELECT note_index(new.terms, new.context); END;`)
    const words = (at: number) => Array.from({ length: 3000 }, (_, word) => `w${at}x${word}`).join(' ')
    for (let at = 0; at < 10; at++) {
      characters = 0
      await store.add(mine, [memory(words(at).slice(0, 20_000), { timestamp: now + at })], keepAll)
      assert.ok(characters < 21_000, `${characters} characters were indexed`)
    }
    // A short one takes the beginnings of those around it, and they take nothing of it.
    characters = 0
    await store.add(mine, [memory('A short one', { timestamp: now + 5 })], keepAll)
    assert.ok(characters < 7_000, `${characters} characters were indexed`)
    assertAgreeing(db)
  }))

async function ids(store: MemoryStore, scope: Scope): Promise<string[]> {
  const { entries } = await store.list(scope, { limit: 100, offset: 0 })
  return entries.map(({ id }) => id).sort()
}

async function rejects(work: Promise<unknown>, message: RegExp): Promise<void> {
  try {
    await work
  } catch (reason) {
    return assert.match(String((reason as Error).message), message)
  }
  assert.unreachable()
}

test.run()
