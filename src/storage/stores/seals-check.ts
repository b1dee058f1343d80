import type { Scope, SealReport } from '../../personas/personas.ts'
import { row, rows, type Statement, sql, type Work } from '../port/port.ts'
import { rangeOf } from '../shared/memory-scope.ts'
import { added, emptySum, type SealMaker } from '../shared/seals.ts'
import { findScope } from './memory-scope.ts'

/** Rows that are compared by one statement's round. */
const batchSize = 500

/** The row of the key that all seals of a database were made with. */
export interface SealKeyRow {
  readonly key_id: string
  readonly since: number
  readonly sealed: Buffer
  /** The key as PostgreSQL keeps it: readable with the installation's secret alone. */
  readonly wrapped?: Buffer
}

/** The part of a table's rows that their seals cover. */
export interface Covered {
  /** Columns of the table to be selected. */
  readonly columns: Statement
  /** The seal that a row with them should have. */
  seal(maker: SealMaker, row: object): Buffer
}

/** How a database keeps its seals. */
export interface SealReading {
  /** The maker of this key's seals; undefined where this installation has another key. */
  makerOf(key: SealKeyRow): SealMaker | undefined
  readonly memory: Covered
  readonly persona: Covered
  readonly state: Covered
  /** Of `memory_scope_seal`. */
  readonly scopeColumns: Statement
  /** The sum in a scope's seal; undefined where the seal is not ours. */
  sumIn(maker: SealMaker, scopeId: number, row: ScopeSeal): Uint8Array | undefined
  /** The bytes of a vector that its seal covers. */
  readonly vectorBytes: Statement
}

export interface ScopeSeal {
  readonly memories: number
  readonly sealed: Buffer
  readonly sum?: string
}

interface PersonaSeal {
  readonly scope_id: number | null
  readonly persona: Buffer
  readonly state: Buffer | null
  readonly sealed: Buffer
}

interface MemoryRow {
  readonly memory_id: number
  readonly scope_id: number
  readonly id: string
  readonly sealed: Buffer | null
  readonly vector_seal: Buffer | null
  readonly space_id: number | null
  readonly bytes: Buffer | null
}

/** Compares a persona, its state and its memories with their seals, see shared/seals.ts. Expects to see one moment. */
export function* checkSeals(reading: SealReading, scope: Scope): Work<SealReport> {
  const key = yield* row<SealKeyRow>(sql`SELECT * FROM seal_key`)
  const maker = key && reading.makerOf(key)
  if (!maker) return { since: null, problems: ['seals: they were made with another key than the one that is there'] }
  const problems = [
    ...(key.sealed.equals(maker.key(key.since)) ? [] : ['seals: since when they are kept was altered']),
    ...(yield* personaProblems(reading, maker, scope)),
    ...(yield* memoryProblems(reading, maker, scope)),
  ]
  return { since: key.since, problems }
}

function* personaProblems(reading: SealReading, maker: SealMaker, { personaId }: Scope): Work<string[]> {
  const seal = yield* row<PersonaSeal>(
    sql`SELECT scope_id, persona, state, sealed FROM persona_seal WHERE persona_id = ${personaId}`,
  )
  if (!seal) return ['persona: it was added by another program']
  if (!seal.sealed.equals(maker.persona(personaId, seal.scope_id, seal.persona, seal.state)))
    return ['persona: its seal was altered by another program']
  const problems: string[] = []
  const stored = yield* row(sql`SELECT ${reading.persona.columns} FROM persona WHERE id = ${personaId}`)
  if (!stored || !reading.persona.seal(maker, stored).equals(seal.persona))
    problems.push('persona: it was altered by another program')
  const state = yield* row(sql`SELECT ${reading.state.columns} FROM persona_state WHERE persona_id = ${personaId}`)
  if (state && !seal.state) problems.push('state: it was added by another program')
  else if (!state && seal.state) problems.push('state: it was removed by another program')
  else if (state && !reading.state.seal(maker, state).equals(seal.state!))
    problems.push('state: it was altered by another program')
  const place = yield* row<{ scope_id: number | null }>(
    sql`SELECT max(scope_id) AS scope_id FROM memory_scope WHERE persona_id = ${personaId}`,
  )
  if (place!.scope_id !== seal.scope_id) problems.push('memories: another program put others in their place')
  return problems
}

function* memoryProblems(reading: SealReading, maker: SealMaker, scope: Scope): Work<string[]> {
  const scopeId = (yield* findScope(scope))?.scope_id
  if (scopeId === undefined) return []
  const { low, high } = rangeOf(scopeId)
  const problems: string[] = []
  let sum: Uint8Array = emptySum
  let count = 0
  const counted = (sealed: Buffer) => {
    sum = added(sum, sealed)
    count++
  }
  for (let next = low, isLast = false; !isLast; ) {
    const page = yield* memoriesFrom(reading, next, high)
    for (const stored of page) {
      const problem = memoryProblem(reading, maker, scopeId, stored)
      if (problem) problems.push(`memory ${stored.id}: ${problem}`)
      if (stored.sealed) counted(stored.sealed)
    }
    isLast = page.length < batchSize
    next = (page.at(-1)?.memory_id ?? high) + 1
  }
  // Rows under another persona's numbers were never stored here.
  const foreign = yield* rows<{ id: string }>(
    sql`SELECT id FROM memory WHERE scope_id = ${scopeId} AND memory_id NOT BETWEEN ${low} AND ${high}`,
  )
  problems.push(...foreign.map(({ id }) => `memory ${id}: it was added by another program`))
  const left = yield* rows<{ id: string; sealed: Buffer }>(
    sql`SELECT id, sealed FROM memory_seal WHERE memory_id BETWEEN ${low} AND ${high}
          AND NOT EXISTS (SELECT 1 FROM memory WHERE memory.memory_id = memory_seal.memory_id)`,
  )
  for (const { id, sealed } of left) {
    problems.push(`memory ${id}: it was removed by another program`)
    counted(sealed)
  }
  return [...problems, ...(yield* countProblems(reading, maker, scopeId, count, sum))]
}

function memoryProblem(reading: SealReading, maker: SealMaker, scopeId: number, stored: MemoryRow): string | undefined {
  const { memory_id, sealed, vector_seal, space_id, bytes } = stored
  if (stored.scope_id !== scopeId) return 'it was taken away by another program'
  if (!sealed) return 'it was added by another program'
  if (!reading.memory.seal(maker, stored).equals(sealed)) return 'it was altered by another program'
  if (vector_seal && !bytes) return 'its embedding was removed by another program'
  if (bytes && !(vector_seal && maker.vector(memory_id, space_id!, bytes).equals(vector_seal)))
    return 'its embedding was altered by another program'
  return undefined
}

function memoriesFrom({ memory, vectorBytes }: SealReading, from: number, high: number): Work<MemoryRow[]> {
  return rows<MemoryRow>(
    sql`SELECT memory.memory_id, memory.scope_id, memory.id, memory_seal.sealed, memory_seal.vector AS vector_seal,
          memory_vector.space_id, ${vectorBytes} AS bytes, ${memory.columns}
        FROM memory LEFT JOIN memory_seal ON memory_seal.memory_id = memory.memory_id
          LEFT JOIN memory_vector ON memory_vector.memory_id = memory.memory_id
        WHERE memory.memory_id BETWEEN ${from} AND ${high} ORDER BY memory.memory_id LIMIT ${batchSize}`,
  )
}

/** Finds rows that went together with their seals, or came back, which no single row shows. */
function* countProblems(
  reading: SealReading,
  maker: SealMaker,
  scopeId: number,
  count: number,
  sum: Uint8Array,
): Work<string[]> {
  const seal = yield* row<ScopeSeal>(
    sql`SELECT ${reading.scopeColumns} FROM memory_scope_seal WHERE scope_id = ${scopeId}`,
  )
  if (!seal) return ['memories: the seal of their number was removed by another program']
  const sealedSum = reading.sumIn(maker, scopeId, seal)
  if (!sealedSum) return ['memories: the seal of their number was altered by another program']
  const gained = count - seal.memories
  if (gained !== 0)
    return [`memories: ${Math.abs(gained)} of them were ${gained < 0 ? 'removed' : 'added'} by another program`]
  if (!Buffer.from(sum).equals(sealedSum)) return ['memories: another program put others in the place of some']
  return []
}
