import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { MemoryStore, NewMemory, RetentionPolicy, Scope, Vector } from '../../../src/personas/memory/memory.ts'
import { rank } from '../../../src/personas/memory/ranking.ts'
import { queryTermsOf } from '../../../src/personas/memory/ranking-terms.ts'
import type { Database } from '../../../src/storage/sqlite/connection.ts'
import { openDatabase } from '../../../src/storage/sqlite/database.ts'
import { createMemoryStore } from '../../../src/storage/sqlite/memories.ts'
import { createPersonaStore } from '../../../src/storage/sqlite/personas.ts'
import { assertAgreeing } from '../../personas/memory/memory-indexes.ts'
import { suite } from '../../suite.ts'

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
  const db = await openDatabase(join(folder, 'aichat.db'))
  const personas = createPersonaStore(db)
  try {
    await work({
      folder,
      db,
      store: createMemoryStore(db),
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

function cosine(a: Vector, b: Vector): number {
  return a.values.reduce((sum, value, at) => sum + value * b.values[at]!, 0)
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
      // The record of what clean-up removed names its id, on purpose.
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
    const old = memory('old', { id: 'old', timestamp: now - 91 * day })
    const pinned = memory('pinned', {
      id: 'pinned',
      timestamp: now - 400 * day,
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

test('are refused whole by a full memory that may not clean up', () =>
  withShelf(async ({ db, store, scope }) => {
    const mine = await scope('p')
    const policy = { ...keepAll, maxMemories: 2 }
    await store.add(mine, [memory('one', { id: '1' })], policy)
    await rejects(store.add(mine, [memory('two'), memory('three')], policy), /may hold 2 memories/)
    assert.equal(await ids(store, mine), ['1'])
    assertAgreeing(db)
  }))

test('of many small scopes take little more room than their numbers', () =>
  withShelf(async ({ folder, db, store, scope }) => {
    // vec0 sets room for 1,024 vectors aside for each partition: 6 MB for the first memory of every scope.
    for (let at = 0; at < 40; at++)
      await store.add(await scope(`p${at}`), [memory('Thing', { vector: vectorOf(at, 1536) })], keepAll)
    db.pragma('wal_checkpoint(TRUNCATE)')
    const bytes = statSync(join(folder, 'aichat.db')).size
    assert.ok(bytes < 40 * 1536 * 4 * 2 + 1_000_000, `${bytes} bytes`)
    const schema = db.prepare<[], string>('SELECT group_concat(sql) FROM sqlite_schema').pluck().get()!
    assert.not.match(schema, /using vec0/i, 'an ORDER BY over a distance scans all of a vec0 table')
  }))

test('are near by the cosine, whether all vectors are compared or those that their sketches choose', () =>
  withShelf(async ({ store, scope }) => {
    for (const [dimension, size, sure] of [
      [16, 200, 20],
      // Beyond half a million components the sketches choose; among them are the two that are nearer than chance.
      [1536, 500, 2],
    ] as const) {
      const mine = await scope(`p${dimension}`)
      const vectors = Array.from({ length: size }, (_, at) => vectorOf(at, dimension))
      await store.add(
        mine,
        vectors.map((vector, at) => memory(`Thing ${at}`, { id: `${at}`, vector })),
        keepAll,
      )
      const asked = {
        ...vectors[0]!,
        values: vectors[40]!.values.map((value, at) => value + 0.6 * vectors[170]!.values[at]!),
      }
      const length = Math.hypot(...asked.values)
      const vector = { ...asked, values: asked.values.map((value) => value / length) }
      const { candidates } = await store.search(mine, { terms: [], vector, candidates: 40 })
      assert.is(candidates.length, 20)
      for (const { entry, cosine: told } of candidates)
        assert.ok(Math.abs(told! - cosine(vector, vectors[Number(entry.id)]!)) < 1e-4, `${entry.id}: ${told}`)
      const nearest = [...candidates].sort((a, b) => b.cosine! - a.cosine!).map(({ entry }) => entry.id)
      const all = vectors.map((each, at) => [cosine(vector, each), `${at}`] as const).sort(([a], [b]) => b - a)
      assert.equal(
        nearest.slice(0, sure),
        all.slice(0, sure).map(([, id]) => id),
      )
    }
  }))

test('hold whatever dimension a space has, beside others, and are compared within their own', () =>
  withShelf(async ({ db, store, scope }) => {
    const mine = await scope('p')
    const dimensions = [1, 3, 8, 20, 1536]
    await store.add(
      mine,
      dimensions.map((dimension) => memory(`Of ${dimension}`, { id: `${dimension}`, vector: vectorOf(1, dimension) })),
      keepAll,
    )
    assertAgreeing(db)
    for (const dimension of dimensions) {
      const { candidates } = await store.search(mine, { terms: [], vector: vectorOf(1, dimension), candidates: 40 })
      assert.equal(
        candidates.map(({ entry }) => entry.id),
        [`${dimension}`],
      )
      assert.ok(Math.abs(candidates[0]!.cosine! - 1) < 1e-5)
    }
  }))

test('are counted by term within their scope alone, however many others there are', () =>
  withShelf(async ({ store, scope }) => {
    const scopes = await Promise.all(Array.from({ length: 30 }, (_, at) => scope(`p${at}`)))
    for (const [at, each] of scopes.entries())
      await store.add(
        each,
        Array.from({ length: 1 + (at % 3) }, (_, number) => memory(`Harbour ${at} ${number}`)),
        keepAll,
      )
    for (const [at, each] of scopes.entries()) {
      const { frequencies, candidates } = await store.search(each, { terms: ['harbour', '0'], candidates: 50 })
      assert.is(frequencies[0], 1 + (at % 3))
      for (const { entry } of candidates) assert.is(entry.persona_id, `p${at}`)
      assert.is(candidates.length, 1 + (at % 3))
    }
  }))

test('of a term that stands in thousands are found by a rarer one, and its count is about right', () =>
  withShelf(async ({ store, scope }) => {
    const mine = await scope('p')
    for (let thousand = 0; thousand < 3; thousand++)
      await store.add(
        mine,
        Array.from({ length: 1000 }, (_, at) =>
          memory(`tea ${thousand === 0 && at === 5 ? 'in Valparaiso' : `cup${at} lot${thousand}`}`, {
            timestamp: now + (thousand * 1000 + at) * day,
          }),
        ),
        keepAll,
      )
    const query = 'tea in Valparaiso'
    const terms = queryTermsOf(query)
    const found = await store.search(mine, { terms, candidates: 120 })
    assert.ok(Math.abs(found.frequencies[0]! - 3000) < 30, `${found.frequencies}`)
    assert.is(found.frequencies[1], 1)
    const [best] = rank(found, { query, terms, trust: undefined, now })
    assert.match(best!.candidate.entry.content, /Valparaiso/)
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
