import type { AdaptationRecord } from '../../personas/adaptation/log.ts'
import type { EmbeddingSpace, Scope } from '../../personas/memory/memory.ts'
import type { ArchivedMemory, ArchivedPersona, Extent, Passthrough } from '../../personas/package/archive.ts'
import { knownSecret } from '../files/own-secret.ts'
import { adaptationRows } from './adaptations.ts'
import type { Database } from './connection.ts'
import { entryOf, type Row } from './memories-rows.ts'
import { findScope, rangeOf } from './memories-scope.ts'
import { personaRows } from './personas.ts'
import { sealKeyOf } from './seals.ts'
import { checkSeals } from './seals-check.ts'
import { valuesOf } from './vector-bytes.ts'

/** Memories that are read by one statement's round: few enough that they weigh nothing. */
const batchSize = 200

/** A whole persona as it is now; for one consistent view, inside a transaction. */
export function readPersona(db: Database, scope: Scope): ArchivedPersona | undefined {
  const persona = personaRows(db).find(scope.personaId)
  if (!persona || persona.user_id !== scope.userId) return undefined
  const adaptations = adaptationRows(db)
  let log: readonly AdaptationRecord[] | undefined
  const passthrough = db
    .prepare<[string], string>('SELECT fields FROM persona_carried WHERE persona_id = ?')
    .pluck()
    .get(scope.personaId)
  return {
    persona,
    learned: adaptations.cached(scope) ?? adaptations.read(scope).learned,
    get log() {
      log ??= adaptations.log(scope)
      return log
    },
    passthrough: passthrough === undefined ? {} : (JSON.parse(passthrough) as Passthrough),
    spaces: readSpaces(db, scope),
    memories: () => readMemories(db, scope),
    fingerprint: () => fingerprintOf(db, scope),
    seals: () => checkSeals(db, scope, knownSecret(sealKeyOf(db.name))),
  }
}

/** The size of a persona, by counters that are kept as it is stored: see usage-schema.ts. */
export function extentOf(db: Database, { personaId, userId }: Scope): Extent {
  const row = db
    .prepare<[string, string], Extent>(
      `SELECT ifnull(memory_scope.memories, 0) AS memories, ifnull(persona_state.sequence, 0) AS records,
           ifnull(memory_scope.bytes, 0) + persona_usage.bytes AS bytes
         FROM persona JOIN persona_usage ON persona_usage.persona_id = persona.id
         LEFT JOIN memory_scope ON memory_scope.persona_id = persona.id AND memory_scope.user_id = persona.user_id
         LEFT JOIN persona_state ON persona_state.persona_id = persona.id
        WHERE persona.id = ? AND persona.user_id = ?`,
    )
    .get(personaId, userId)
  return row ?? { memories: 0, records: 0, bytes: 0 }
}

/** The seals of the persona and of its memories, which change with everything that is sealed: see seals.ts. */
export function fingerprintOf(db: Database, { personaId }: Scope): string {
  const seals = db
    .prepare<[string], string>(
      `SELECT hex(persona_seal.sealed) || ' ' || ifnull(hex(memory_scope_seal.sealed) || ' ' || memory_scope_seal.memories, '')
         FROM persona_seal LEFT JOIN memory_scope_seal USING (scope_id) WHERE persona_id = ?`,
    )
    .pluck()
    .get(personaId)
  return seals ?? ''
}

function readSpaces(db: Database, scope: Scope): readonly EmbeddingSpace[] {
  const row = findScope(db, scope)
  if (!row) return []
  const { low, high } = rangeOf(row.scope_id)
  return db
    .prepare<[number, number], EmbeddingSpace>(
      `SELECT key, model, dimension FROM embedding_space WHERE space_id IN
         (SELECT DISTINCT space_id FROM memory_vector WHERE memory_id BETWEEN ? AND ?) ORDER BY key`,
    )
    .all(low, high)
}

interface MemoryRow extends Row {
  readonly stored_at: number
  readonly fields: string | null
  readonly vector: Buffer | null
  readonly key: string
  readonly model: string
  readonly dimension: number
}

function* readMemories(db: Database, scope: Scope): Generator<ArchivedMemory> {
  const row = findScope(db, scope)
  if (!row) return
  const page = db.prepare<[number, number, number], MemoryRow>(
    `SELECT memory.memory_id, id, content, timestamp, importance, stored_at, metadata, fields, vector, key, model, dimension
       FROM memory LEFT JOIN memory_carried USING (memory_id) LEFT JOIN memory_vector USING (memory_id)
       LEFT JOIN embedding_space USING (space_id)
      WHERE memory.memory_id BETWEEN ? AND ? ORDER BY memory.memory_id LIMIT ?`,
  )
  const { low, high } = rangeOf(row.scope_id)
  for (let next = low; ; ) {
    const rows = page.all(next, high, batchSize)
    for (const each of rows) yield archivedMemory(scope, each)
    if (rows.length < batchSize) return
    next = rows.at(-1)!.memory_id + 1
  }
}

function archivedMemory(scope: Scope, row: MemoryRow): ArchivedMemory {
  const { key, model, dimension, vector } = row
  return {
    entry: entryOf(scope, row, vector ? { space: { key, model, dimension }, values: valuesOf(vector) } : undefined),
    extra: row.fields === null ? {} : JSON.parse(row.fields),
    stored_at: row.stored_at,
  }
}
