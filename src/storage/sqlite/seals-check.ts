import type { Scope } from '../../personas/memory/memory.ts'
import type { SealReport } from '../../personas/package/archive.ts'
import { rangeOf } from '../shared/memory-scope.ts'
import type { Database } from './connection.ts'
import { findScope } from './memories-scope.ts'
import {
  added,
  createSealMaker,
  emptySum,
  memoryColumns,
  personaColumns,
  type SealMaker,
  stateColumns,
  sumOf,
} from './seals.ts'

/** Rows that are compared by one statement's round. */
const batchSize = 200

type MemoryRow = [
  memory_id: number,
  sealed: Buffer | null,
  vectorSeal: Buffer | null,
  space: number | null,
  vector: Buffer | null,
  ...columns: unknown[],
]

interface PersonaSeal {
  readonly scope_id: number | null
  readonly persona: Buffer
  readonly state: Buffer | null
  readonly sealed: Buffer
}

/**
 * Compares a persona, its state and its memories with their seals, see seals.ts. Expects to run inside a transaction;
 * `secret` is undefined where the key is gone.
 */
export function checkSeals(db: Database, scope: Scope, secret: string | undefined): SealReport {
  if (secret === undefined) return { since: null, problems: ['seals: the key that they were made with is gone'] }
  const maker = createSealMaker(secret)
  const key = db
    .prepare<[string], { since: number; sealed: Buffer }>('SELECT since, sealed FROM seal_key WHERE key_id = ?')
    .get(maker.keyId)
  if (!key) return { since: null, problems: ['seals: they were made with another key than the one that is there'] }
  const problems = [
    ...(key.sealed.equals(maker.key(key.since)) ? [] : ['seals: since when they are kept was altered']),
    ...personaProblems(db, maker, scope),
    ...memoryProblems(db, maker, scope),
  ]
  return { since: key.since, problems }
}

function personaProblems(db: Database, maker: SealMaker, { personaId }: Scope): string[] {
  const seal = db
    .prepare<[string], PersonaSeal>('SELECT scope_id, persona, state, sealed FROM persona_seal WHERE persona_id = ?')
    .get(personaId)
  if (!seal) return ['persona: it was added by another program']
  if (!seal.sealed.equals(maker.persona(personaId, seal.scope_id, seal.persona, seal.state)))
    return ['persona: its seal was altered by another program']
  const problems: string[] = []
  const row = raw(db, `SELECT ${personaColumns} FROM persona WHERE id = ?`, personaId)
  if (!row || !maker.personaRow(row).equals(seal.persona)) problems.push('persona: it was altered by another program')
  const state = raw(db, `SELECT ${stateColumns} FROM persona_state WHERE persona_id = ?`, personaId)
  if (state && !seal.state) problems.push('state: it was added by another program')
  else if (!state && seal.state) problems.push('state: it was removed by another program')
  else if (state && !maker.state(state).equals(seal.state!)) problems.push('state: it was altered by another program')
  const scopeId = db
    .prepare<[string], number | null>('SELECT max(scope_id) FROM memory_scope WHERE persona_id = ?')
    .pluck()
    .get(personaId)
  if (scopeId !== seal.scope_id) problems.push('memories: another program put others in their place')
  return problems
}

function raw(db: Database, statement: string, id: string): unknown[] | undefined {
  return db.prepare<[string], unknown[]>(statement).raw().get(id)
}

function memoryProblems(db: Database, maker: SealMaker, scope: Scope): string[] {
  const scopeId = findScope(db, scope)?.scope_id
  if (scopeId === undefined) return []
  const { low, high } = rangeOf(scopeId)
  const problems: string[] = []
  let sum: Uint8Array = emptySum
  let count = 0
  for (const [memoryId, sealed, vectorSeal, space, vector, ...columns] of rowsOf(db, low, high)) {
    const name = `memory ${columns[2]}`
    if (columns[1] !== scopeId) {
      problems.push(`${name}: it was taken away by another program`)
      if (!sealed) continue
      sum = added(sum, sealed)
      count++
    } else if (!sealed) problems.push(`${name}: it was added by another program`)
    else {
      sum = added(sum, sealed)
      count++
      if (!maker.memory(columns).equals(sealed)) problems.push(`${name}: it was altered by another program`)
      else if (vectorSeal && !vector) problems.push(`${name}: its embedding was removed by another program`)
      else if (vector && !(vectorSeal && maker.vector(memoryId, space!, vector).equals(vectorSeal)))
        problems.push(`${name}: its embedding was altered by another program`)
    }
  }
  // Rows under another persona's numbers were never stored here.
  const foreign = db.prepare<[number, number, number], string>(
    'SELECT id FROM memory WHERE scope_id = ? AND memory_id NOT BETWEEN ? AND ?',
  )
  for (const id of foreign.pluck().iterate(scopeId, low, high))
    problems.push(`memory ${id}: it was added by another program`)
  const left = db.prepare<[number, number], { id: string; sealed: Buffer }>(
    `SELECT id, sealed FROM memory_seal WHERE memory_id BETWEEN ? AND ?
       AND NOT EXISTS (SELECT 1 FROM memory WHERE memory.memory_id = memory_seal.memory_id)`,
  )
  for (const { id, sealed } of left.iterate(low, high)) {
    problems.push(`memory ${id}: it was removed by another program`)
    sum = added(sum, sealed)
    count++
  }
  return [...problems, ...countProblems(db, maker, scopeId, count, sum)]
}

function* rowsOf(db: Database, low: number, high: number): Generator<MemoryRow> {
  const page = db
    .prepare<[number, number, number], MemoryRow>(
      `SELECT memory.memory_id, sealed, memory_seal.vector, space_id, memory_vector.vector,
           ${memoryColumns.replaceAll(/\w+/g, (column) => `memory.${column}`)}
         FROM memory LEFT JOIN memory_seal USING (memory_id) LEFT JOIN memory_vector USING (memory_id)
        WHERE memory.memory_id BETWEEN ? AND ? ORDER BY memory.memory_id LIMIT ?`,
    )
    .raw()
  for (let next = low; ; ) {
    const rows = page.all(next, high, batchSize)
    yield* rows
    if (rows.length < batchSize) return
    next = rows.at(-1)![0] + 1
  }
}

/** Finds rows that went together with their seals, or came back, which no single row shows. */
function countProblems(db: Database, maker: SealMaker, scopeId: number, count: number, sum: Uint8Array): string[] {
  const seal = db
    .prepare<[number], { memories: number; sealed: Buffer }>(
      'SELECT memories, sealed FROM memory_scope_seal WHERE scope_id = ?',
    )
    .get(scopeId)
  if (!seal) return ['memories: the seal of their number was removed by another program']
  if (!maker.scope(scopeId, seal.memories, sumOf(seal.sealed)).equals(seal.sealed))
    return ['memories: the seal of their number was altered by another program']
  if (count < seal.memories) return [`memories: ${seal.memories - count} of them were removed by another program`]
  if (count > seal.memories) return [`memories: ${count - seal.memories} of them were added by another program`]
  if (!Buffer.from(sum).equals(sumOf(seal.sealed))) return ['memories: another program put others in the place of some']
  return []
}
