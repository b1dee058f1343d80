import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { EmbeddingSpace, NewMemory, Scope, Vector } from '../../../src/personas/memory/memory.ts'
import { sketchOf } from '../../../src/storage/shared/vector-bytes.ts'
import type { Database } from '../../../src/storage/sqlite/connection.ts'
import { openDatabase } from '../../../src/storage/sqlite/database.ts'
import { createSketches, type Sketches, sketchesOf } from '../../../src/storage/sqlite/sketches.ts'
import { memoryStoreOf, personaStoreOf } from '../../helpers/storage/test-storage.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('sketches that are kept in memory')

const keepAll = { maxMemories: 1e6, maxAge: 1e15, cleanup: false, now: 0 }
const numbersOfScope = 2 ** 24

async function withDatabase(
  work: (parts: { readonly path: string; readonly db: Database; scope(name: string): Promise<Scope> }) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'aichat-sketches-'))
  const path = join(folder, 'aichat.db')
  const db = await openDatabase(path)
  const personas = personaStoreOf(db)
  try {
    await work({
      path,
      db,
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

/** A unit vector of that seed. */
function vectorOf(seed: number, dimension: number, key = `test/${dimension}`): Vector {
  const values = Float32Array.from({ length: dimension }, (_, at) => Math.sin(seed * 7919 + at * at * 104.729))
  const length = Math.hypot(...values)
  const space: EmbeddingSpace = { key, model: 'test', dimension }
  return { space, values: values.map((value) => value / length) }
}

function memoriesOf(from: number, count: number, dimension: number, category = ''): NewMemory[] {
  return Array.from({ length: count }, (_, at) => ({
    content: `Number ${from + at}.`,
    timestamp: from + at,
    importance_score: 0.5,
    metadata: category ? { category } : {},
    vector: vectorOf(from + at, dimension),
  }))
}

/** Stores memories with numbers in as many blocks as there are batches. */
async function spread(db: Database, scope: Scope, batches: number, each: number, dimension: number): Promise<void> {
  const store = memoryStoreOf(db)
  for (let batch = 0; batch < batches; batch++) {
    await store.add(scope, memoriesOf(batch * 1000, each, dimension), keepAll)
    db.prepare('UPDATE memory_scope SET last_number = last_number + 1024 WHERE persona_id = ?').run(scope.personaId)
  }
}

/** Compares with a scan of the table: the same memories in the same order, equally near ones too. */
function assertAsScanned(db: Database, sketches: Sketches, scopeId: number, query: Vector, limit: number): void {
  const space = db.prepare('SELECT space_id FROM embedding_space WHERE key = ?').pluck().get(query.space.key) as number
  const bits = sketchOf(query.values)
  const scanned = db
    .prepare(
      `SELECT memory_id FROM memory_sketch WHERE memory_id BETWEEN ? AND ? AND space_id = ?
        ORDER BY vec_distance_hamming(vec_bit(bits), vec_bit(?)) LIMIT ?`,
    )
    .pluck()
    .all(scopeId * numbersOfScope, (scopeId + 1) * numbersOfScope - 1, space, bits, limit)
  assert.equal(sketches.nearest(scopeId, space, bits, limit), scanned)
}

function scopeIdOf(db: Database, { personaId }: Scope): number {
  return db.prepare('SELECT scope_id FROM memory_scope WHERE persona_id = ?').pluck().get(personaId) as number
}

for (const dimension of [8, 40, 1536])
  test(`find what a scan of the table finds, while they are read and afterwards, in ${dimension} dimensions`, () =>
    withDatabase(async ({ db, scope }) => {
      const mine = await scope('mine')
      await spread(db, mine, 7, 20, dimension)
      const sketches = createSketches(db, { bytes: 1e8, readAtOnce: 2 })
      const id = scopeIdOf(db, mine)
      for (let round = 0; round < 6; round++)
        for (const limit of [1, 13, 90, 500]) assertAsScanned(db, sketches, id, vectorOf(-round, dimension), limit)
    }))

test('follow every change, of this connection and of another', () =>
  withDatabase(async ({ path, db, scope }) => {
    const mine = await scope('mine')
    await spread(db, mine, 4, 30, 64)
    const store = memoryStoreOf(db)
    const sketches = sketchesOf(db)
    const id = scopeIdOf(db, mine)
    const check = () => {
      for (let round = 0; round < 3; round++) assertAsScanned(db, sketches, id, vectorOf(0.5 + round, 64), 200)
    }
    check()
    const other = await openDatabase(path)
    try {
      for (const writer of [store, memoryStoreOf(other)]) {
        const isOther = writer !== store
        const { entries } = await writer.add(mine, memoriesOf(isOther ? 90_000 : 80_000, 5, 64, 'late'), keepAll)
        check()
        const [first] = entries
        await writer.edit(mine, first!.id, () => ({ ...first!, content: `Edited ${isOther}.` }), keepAll)
        check()
        const vector = vectorOf(12_345, 64)
        await writer.putVectors(mine, [{ id: first!.id, content: `Edited ${isOther}.`, vector }])
        check()
        const renewed = vectorOf(54_321, 64)
        await writer.putVectors(mine, [{ id: first!.id, content: `Edited ${isOther}.`, vector: renewed }])
        check()
        await writer.remove(mine, entries[1]!.id)
        check()
        await writer.wipe(mine, { category: 'late' })
        check()
      }
      await memoryStoreOf(other).wipe(mine, {})
      check()
    } finally {
      other.close()
    }
    assert.is(db.prepare('SELECT count(*) FROM memory_sketch_block').pluck().get(), 0)
  }))

test.run()
