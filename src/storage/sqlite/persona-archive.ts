import { AppError } from '../../errors.ts'
import type {
  ArchivedMemory,
  ArchivedPersona,
  Arrival,
  Carried,
  IncomingMemory,
  PersonaArchive,
} from '../../personas/dna-archive.ts'
import type { EmbeddingSpace, RetentionPolicy, Scope, Vector } from '../../personas/memory.ts'
import { adaptationRows } from './adaptations.ts'
import { insertBackup } from './backups.ts'
import type { Database } from './database.ts'
import { memoryRows } from './memories.ts'
import { findScope, rangeOf } from './memories-scope.ts'
import { giveBackPages } from './pages.ts'
import { personaRows } from './personas.ts'

/** Whole personas in SQLite, across the stores that hold their parts. */
export function createPersonaArchive(db: Database): PersonaArchive {
  return {
    read: async (scope, use) =>
      db.transaction(() => {
        const archived = readPersona(db, scope)
        return archived && use(archived)
      })(),
    write: async (arrival) => {
      let memories = 0
      try {
        db.transaction(() => {
          memories = writePersona(db, arrival)
          if (arrival.rehearsal) throw takenBack
        }).immediate()
      } catch (reason) {
        if (reason !== takenBack) throw reason
      }
      if (arrival.how === 'replace' && !arrival.rehearsal) giveBackPages(db)
      return { memories }
    },
  }
}

/** Thrown to end a transaction without a trace. */
const takenBack = new Error('taken back')

/** Memories that are read or written by one statement's round: few enough that they weigh nothing. */
const batchSize = 200

/** An import brings its memories whole: how many are too many is decided when the next one is stored. */
const keepAll: RetentionPolicy = {
  maxMemories: Number.MAX_SAFE_INTEGER,
  maxAge: Number.MAX_SAFE_INTEGER,
  cleanup: false,
  now: 0,
}

function readPersona(db: Database, scope: Scope): ArchivedPersona | undefined {
  const persona = personaRows(db).find(scope.personaId)
  if (!persona || persona.user_id !== scope.userId) return undefined
  const adaptations = adaptationRows(db)
  const carried = db
    .prepare<[string], string>('SELECT fields FROM persona_carried WHERE persona_id = ?')
    .pluck()
    .get(scope.personaId)
  return {
    persona,
    learned: adaptations.cached(scope) ?? adaptations.read(scope).learned,
    log: adaptations.log(scope),
    carried: carried === undefined ? {} : (JSON.parse(carried) as Carried),
    spaces: readSpaces(db, scope),
    memories: () => readMemories(db, scope),
  }
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

interface MemoryRow {
  readonly memory_id: number
  readonly id: string
  readonly content: string
  readonly timestamp: number
  readonly importance: number
  readonly metadata: string
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
    `SELECT memory.memory_id, id, content, timestamp, importance, metadata, fields, vector, key, model, dimension
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
    entry: {
      id: row.id,
      user_id: scope.userId,
      persona_id: scope.personaId,
      content: row.content,
      timestamp: row.timestamp,
      importance_score: row.importance,
      metadata: JSON.parse(row.metadata),
      ...(vector && { vector: { space: { key, model, dimension }, values: valuesOf(vector) } }),
    },
    extra: row.fields === null ? {} : JSON.parse(row.fields),
  }
}

/** A copy: the database's buffer need not be aligned. */
function valuesOf(bytes: Buffer): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer)
}

/** Expects to run inside a transaction; returns the number of memories that were new. */
function writePersona(db: Database, arrival: Arrival): number {
  const { persona, how } = arrival
  const scope: Scope = { personaId: persona.id, userId: persona.user_id }
  const personas = personaRows(db)
  const there = personas.find(persona.id)
  if (how === 'create' ? there !== undefined : there?.user_id !== persona.user_id)
    throw new AppError('not_found', `The persona "${persona.id}" was removed or made by somebody else meanwhile`)
  const replaced = arrival.backup && readPersona(db, scope)
  if (replaced) insertBackup(db, arrival.backup!(replaced))
  const memories = memoryRows(db)
  if (how === 'replace') memories.wipe(scope, {})
  personas.save(persona)
  const before = findScope(db, scope)?.memories ?? 0
  for (const batch of batches(arrival.memories)) addMemories(db, memories, scope, batch)
  writeLog(db, scope, arrival)
  if (how !== 'merge')
    db.prepare('INSERT OR REPLACE INTO persona_carried (persona_id, fields) VALUES (?, ?)').run(
      persona.id,
      JSON.stringify(arrival.carried),
    )
  return (findScope(db, scope)?.memories ?? 0) - before
}

function writeLog(db: Database, scope: Scope, arrival: Arrival): void {
  const adaptations = adaptationRows(db)
  const { head, learned } = adaptations.read(scope)
  const made = arrival.log(head, learned)
  if (arrival.how !== 'merge') adaptations.replace(scope, made.records, made.learned)
  else for (const record of made.records) adaptations.append(scope, record, made.learned)
}

function addMemories(
  db: Database,
  memories: ReturnType<typeof memoryRows>,
  scope: Scope,
  batch: readonly IncomingMemory[],
): void {
  const fitting = batch.map((memory) => ({
    ...memory,
    ...(memory.vector && { vector: inOwnSpace(db, memory.vector) }),
  }))
  const { entries } = memories.add(scope, fitting, keepAll)
  const carry = db.prepare(
    `INSERT OR REPLACE INTO memory_carried (memory_id, fields)
       SELECT memory_id, ? FROM memory JOIN memory_scope USING (scope_id) WHERE persona_id = ? AND user_id = ? AND id = ?`,
  )
  for (const [index, { extra }] of batch.entries())
    if (Object.keys(extra).length > 0)
      carry.run(JSON.stringify(extra), scope.personaId, scope.userId, entries[index]!.id)
}

/** A package may claim any space; vectors of two lengths in one space would break every search in it. */
function inOwnSpace(db: Database, vector: Vector): Vector {
  const known = db
    .prepare<[string], number>('SELECT dimension FROM embedding_space WHERE key = ?')
    .pluck()
    .get(vector.space.key)
  if (known === undefined || known === vector.values.length) return vector
  const { key, model } = vector.space
  return { ...vector, space: { key: `${key}#${vector.values.length}`, model, dimension: vector.values.length } }
}

function* batches<T>(items: Iterable<T>): Generator<readonly T[]> {
  let batch: T[] = []
  for (const item of items) {
    batch.push(item)
    if (batch.length < batchSize) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
