import { dirname, join } from 'node:path'
import { raw } from '../port/port.ts'
import {
  added,
  columnsOf,
  createSealMaker,
  emptySum,
  memoryColumns,
  personaColumns,
  type SealMaker,
  stateColumns,
  sumLength,
} from '../shared/seals.ts'
import type { Covered, SealReading } from '../stores/seals-check.ts'
import type { Database } from './connection.ts'
import { createRowsInsert } from './rows-insert.ts'

/** Where the key of a database's seals lies. */
export function sealKeyOf(databasePath: string): string {
  return join(dirname(databasePath), 'seal-key')
}

/** Makes seals as SQLite's triggers do: bytes are hexadecimal. */
function sqliteSeals(secret: string): SealMaker {
  return createSealMaker(secret, (value) =>
    value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.length).toString('hex') : value,
  )
}

/** 64 bytes: the sum of a scope's seals, and the seal of it and the number of its memories. */
function scopeSeal(maker: SealMaker, scopeId: number, memories: number, sum: Uint8Array): Buffer {
  return Buffer.concat([sum, maker.made('scope', scopeId, memories, sum)])
}

/** The sum of a scope's seal. */
function sumOf(sealed: Uint8Array): Uint8Array {
  return sealed.subarray(0, sumLength)
}

/** Reads the seals of a database; `secret` is that of its key. */
export function sealReading(secret: string): SealReading {
  const own = sqliteSeals(secret)
  const covered = (kind: string, table: string, columns: string): Covered => {
    const names = columns.split(', ')
    return {
      columns: raw(columnsOf(table, columns)),
      seal: (maker, row) => maker.made(kind, ...names.map((name) => (row as Readonly<Record<string, unknown>>)[name])),
    }
  }
  return {
    makerOf: ({ key_id }) => (key_id === own.keyId ? own : undefined),
    memory: covered('memory', 'memory', memoryColumns),
    persona: covered('persona row', 'persona', personaColumns),
    state: covered('state', 'persona_state', stateColumns),
    scopeColumns: raw('memories, sealed'),
    sumIn(maker, scopeId, { memories, sealed }) {
      const sum = sumOf(sealed)
      return scopeSeal(maker, scopeId, memories, sum).equals(sealed) ? sum : undefined
    },
    vectorBytes: raw('memory_vector.vector'),
  }
}

/**
 * Has every change that this connection makes sealed with the key. A database that was never sealed, or with another key,
 * is sealed as it is: earlier changes cannot be seen, and `seal_key.since` says so.
 */
export function keepSeals(db: Database, secret: string, now: () => number = Date.now): void {
  const maker = sqliteSeals(secret)
  defineFunctions(db, maker)
  const known = db.prepare<[string], 1>('SELECT 1 FROM seal_key WHERE key_id = ?').pluck()
  if (!known.get(maker.keyId)) {
    const seal = db.transaction(() => {
      // Another process may have been faster.
      if (!known.get(maker.keyId)) sealAll(db, maker, now())
    })
    seal.immediate()
  }
  db.exec(triggers)
  makers.set(db, maker)
}

/** Connections that keep seals, with their makers. */
const makers = new WeakMap<Database, SealMaker>()

/** Connections whose new memories are sealed together right now, see `sealTogether`. */
const together = new WeakSet<Database>()

/** New memories of one scope by their numbers, both ends included. */
export interface NewMemories {
  readonly scopeId: number
  readonly low: number
  readonly high: number
}

/** A new memory as its table will keep it, by the names of `memoryColumns`; and its vector. */
export interface UnsealedMemory {
  readonly row: Readonly<Record<string, unknown>>
  readonly vector?: { readonly spaceId: number; readonly bytes: Buffer } | undefined
}

/** The seals of new memories, made before their transaction. */
export interface ReadySeals {
  readonly rows: readonly (readonly unknown[])[]
  readonly sum: Uint8Array
}

const memoryNames = memoryColumns.split(', ')
const loneSurrogate = /\p{Surrogate}/u

/**
 * Makes the seals of memories that will be added under these numbers. Undefined where the connection keeps no seals, and where
 * a text would not be read as it was given: the database has no half of a surrogate pair.
 */
export function readySeals(db: Database, memories: readonly UnsealedMemory[]): ReadySeals | undefined {
  const maker = makers.get(db)
  if (!maker) return undefined
  let sum = emptySum
  const rows: unknown[][] = []
  for (const { row, vector } of memories) {
    const values = memoryNames.map((name) => row[name])
    if (values.some((value) => typeof value === 'string' && loneSurrogate.test(value))) return undefined
    const sealed = maker.made('memory', ...values)
    const number = row['memory_id'] as number
    sum = added(sum, sealed)
    rows.push([number, row['id'], sealed, vector ? maker.vector(number, vector.spaceId, vector.bytes) : null])
  }
  return { rows, sum }
}

/**
 * Adds memories and their vectors, of which none was there, and then seals them as each would have been sealed alone: the seal
 * of their scope is made once rather than once for each. Expects to run inside a transaction; `add` adds no other memories.
 * @param ready the seals of exactly these memories, where they are made already
 */
export function sealTogether(
  db: Database,
  { scopeId, low, high }: NewMemories,
  add: () => void,
  ready: ReadySeals | undefined,
): void {
  if (!makers.has(db)) return add()
  together.add(db)
  try {
    add()
  } finally {
    together.delete(db)
  }
  const statements = sealers.get(db) ?? prepareSealers(db)
  sealers.set(db, statements)
  if (ready) {
    statements.insert(ready.rows)
    statements.scopeBy.run({ scopeId, sum: ready.sum, count: ready.rows.length })
    return
  }
  const { changes } = statements.memories.run(low, high)
  statements.scope.run({ scopeId, low, high, count: changes })
}

const sealers = new WeakMap<Database, ReturnType<typeof prepareSealers>>()

function prepareSealers(db: Database) {
  const scope = (sum: string) =>
    db.prepare(
      `UPDATE memory_scope_seal SET memories = memories + @count,
          sealed = reseal_scope_by(scope_id, memories, sealed, ${sum}, @count)
        WHERE scope_id = @scopeId`,
    )
  return {
    memories: db.prepare(`${sealMemories} WHERE memory.memory_id BETWEEN ? AND ? ORDER BY memory.memory_id`),
    scope: scope('(SELECT sum_seals(sealed) FROM memory_seal WHERE memory_id BETWEEN @low AND @high)'),
    insert: createRowsInsert(db, 'memory_seal', 'memory_id, id, sealed, vector', 'INSERT OR REPLACE'),
    scopeBy: scope('@sum'),
  }
}

/** SQL functions of this connection alone. Directly called or called by a temporary trigger: no schema may name them. */
function defineFunctions(db: Database, maker: SealMaker): void {
  const options = { varargs: true, deterministic: true } as const
  db.function('seal_memory', options, (...row) => maker.made('memory', ...row))
  db.function('seal_vector', { deterministic: true }, (memoryId, spaceId, vector) =>
    maker.vector(memoryId as number, spaceId as number, vector as Buffer),
  )
  db.function('seal_persona_row', options, (...columns) => maker.made('persona row', ...columns))
  db.function('seal_state', options, (...columns) => maker.made('state', ...columns))
  db.function('seal_persona', { deterministic: true }, (id, scope, persona, state) =>
    maker.persona(id as string, scope as number | null, persona as Buffer, state as Buffer | null),
  )
  db.function('seal_scope', { deterministic: true }, (scopeId, memories, sum) =>
    scopeSeal(maker, scopeId as number, memories as number, (sum as Buffer | null) ?? emptySum),
  )
  // The seal of a scope after one memory's seal came and another one went; a broken one stays as it is.
  db.function('reseal_scope', { deterministic: true }, (scopeId, memories, sealed, coming, going) => {
    const before = sumOf(sealed as Buffer)
    if (!scopeSeal(maker, scopeId as number, memories as number, before).equals(sealed as Buffer)) return sealed
    const gained = coming === null ? before : added(before, coming as Buffer)
    const sum = going === null ? gained : added(gained, going as Buffer, -1)
    return scopeSeal(
      maker,
      scopeId as number,
      (memories as number) + Number(coming !== null) - Number(going !== null),
      sum,
    )
  })
  // The same after so many memories came, by the sum of their seals.
  db.function('reseal_scope_by', { deterministic: true }, (scopeId, memories, sealed, sum, count) => {
    const before = sumOf(sealed as Buffer)
    if (!scopeSeal(maker, scopeId as number, memories as number, before).equals(sealed as Buffer)) return sealed
    return scopeSeal(maker, scopeId as number, (memories as number) + (count as number), added(before, sum as Buffer))
  })
  db.function('sealed_together', () => Number(together.has(db)))
  db.aggregate('sum_seals', {
    deterministic: true,
    start: () => emptySum as Uint8Array,
    step: (sum: Uint8Array, seal: unknown) => (seal === null ? sum : added(sum, seal as Buffer)),
    result: (sum: Uint8Array) => Buffer.from(sum),
  })
}

const sealMemories = `
  INSERT OR REPLACE INTO memory_seal (memory_id, id, sealed, vector)
    SELECT memory.memory_id, memory.id, seal_memory(${columnsOf('memory', memoryColumns)}),
      CASE WHEN space_id IS NOT NULL THEN seal_vector(memory.memory_id, space_id, vector) END
      FROM memory LEFT JOIN memory_vector USING (memory_id)`

const sealPersonas = `
  INSERT OR REPLACE INTO persona_seal (persona_id, scope_id, persona, state, sealed)
    SELECT id, scope, row, state, seal_persona(id, scope, row, state) FROM (
      SELECT persona.id, seal_persona_row(${columnsOf('persona', personaColumns)}) AS row,
        (SELECT max(scope_id) FROM memory_scope WHERE persona_id = persona.id) AS scope,
        CASE WHEN persona_state.persona_id IS NOT NULL THEN seal_state(${columnsOf('persona_state', stateColumns)}) END AS state
        FROM persona LEFT JOIN persona_state ON persona_state.persona_id = persona.id
       WHERE coalesce(persona.id = @persona, TRUE));`

/**
 * Seals a persona, its state and the place of its memories as they are: for one that was replaced as a whole, even where its
 * earlier seals did not hold. Does nothing on a connection that keeps no seals.
 */
export function sealAnew(db: Database, personaId: string): void {
  if (db.prepare("SELECT 1 FROM temp.sqlite_master WHERE name = 'seal_persona_added'").get() === undefined) return
  db.prepare(sealPersonas).run({ persona: personaId })
}

function sealAll(db: Database, maker: SealMaker, now: number): void {
  db.exec(`
    DELETE FROM seal_key;
    DELETE FROM persona_seal;
    DELETE FROM memory_scope_seal;
    DELETE FROM memory_seal;
    ${sealMemories} ORDER BY memory.memory_id;
    INSERT INTO memory_scope_seal (scope_id, memories, sealed)
      SELECT scope_id, count(memory_id), seal_scope(scope_id, count(memory_id), sum_seals(sealed))
        FROM memory_scope LEFT JOIN memory USING (scope_id) LEFT JOIN memory_seal USING (memory_id) GROUP BY scope_id;
    ${sealPersonas.replace('@persona', 'NULL')}
  `)
  const since = Math.round(now)
  db.prepare('INSERT INTO seal_key (key_id, since, sealed) VALUES (?, ?, ?)').run(maker.keyId, since, maker.key(since))
}

const fresh = (columns: string) => columnsOf('new', columns)
const former = (columns: string) => columnsOf('old', columns)
const isSound = 'sealed = seal_persona(persona_id, scope_id, persona, state)'
const scopeOf = `(SELECT max(scope_id) FROM memory_scope WHERE memory_scope.persona_id = persona_seal.persona_id)`

const triggers = `
  CREATE TEMP TRIGGER seal_memory_added AFTER INSERT ON main.memory WHEN NOT sealed_together() BEGIN
    INSERT OR REPLACE INTO memory_seal (memory_id, id, sealed)
      VALUES (new.memory_id, new.id, seal_memory(${fresh(memoryColumns)}));
    UPDATE memory_scope_seal SET memories = memories + 1, sealed = reseal_scope(scope_id, memories, sealed,
        (SELECT sealed FROM memory_seal WHERE memory_id = new.memory_id), NULL)
      WHERE scope_id = new.scope_id;
  END;
  CREATE TEMP TRIGGER seal_memory_changed AFTER UPDATE OF ${memoryColumns} ON main.memory
    WHEN (SELECT sealed FROM memory_seal WHERE memory_id = old.memory_id) = seal_memory(${former(memoryColumns)}) BEGIN
    UPDATE memory_scope_seal SET sealed = reseal_scope(scope_id, memories, sealed, seal_memory(${fresh(memoryColumns)}),
        (SELECT sealed FROM memory_seal WHERE memory_id = old.memory_id))
      WHERE scope_id = new.scope_id;
    UPDATE memory_seal SET id = new.id, sealed = seal_memory(${fresh(memoryColumns)}) WHERE memory_id = old.memory_id;
  END;
  CREATE TEMP TRIGGER seal_memory_removed AFTER DELETE ON main.memory
    WHEN EXISTS (SELECT 1 FROM memory_seal WHERE memory_id = old.memory_id) BEGIN
    UPDATE memory_scope_seal SET memories = memories - 1, sealed = reseal_scope(scope_id, memories, sealed, NULL,
        (SELECT sealed FROM memory_seal WHERE memory_id = old.memory_id))
      WHERE scope_id = old.scope_id;
    DELETE FROM memory_seal WHERE memory_id = old.memory_id;
  END;
  CREATE TEMP TRIGGER seal_vector_added AFTER INSERT ON main.memory_vector WHEN NOT sealed_together() BEGIN
    UPDATE memory_seal SET vector = seal_vector(new.memory_id, new.space_id, new.vector) WHERE memory_id = new.memory_id;
  END;
  CREATE TEMP TRIGGER seal_vector_removed AFTER DELETE ON main.memory_vector BEGIN
    UPDATE memory_seal SET vector = NULL WHERE memory_id = old.memory_id;
  END;
  CREATE TEMP TRIGGER seal_scope_added AFTER INSERT ON main.memory_scope BEGIN
    INSERT OR REPLACE INTO memory_scope_seal (scope_id, memories, sealed)
      VALUES (new.scope_id, 0, seal_scope(new.scope_id, 0, NULL));
    UPDATE persona_seal SET scope_id = ${scopeOf}, sealed = seal_persona(persona_id, ${scopeOf}, persona, state)
      WHERE persona_id = new.persona_id AND ${isSound}
        AND (scope_id IS NULL OR scope_id IN (SELECT memory_scope.scope_id FROM memory_scope
          WHERE memory_scope.persona_id = new.persona_id AND memory_scope.scope_id <> new.scope_id));
  END;
  CREATE TEMP TRIGGER seal_scope_moved AFTER UPDATE OF persona_id ON main.memory_scope BEGIN
    UPDATE persona_seal SET scope_id = ${scopeOf}, sealed = seal_persona(persona_id, ${scopeOf}, persona, state)
      WHERE persona_id IN (old.persona_id, new.persona_id) AND ${isSound};
  END;
  CREATE TEMP TRIGGER seal_scope_removed AFTER DELETE ON main.memory_scope BEGIN
    DELETE FROM memory_scope_seal WHERE scope_id = old.scope_id;
    UPDATE persona_seal SET scope_id = ${scopeOf}, sealed = seal_persona(persona_id, ${scopeOf}, persona, state)
      WHERE persona_id = old.persona_id AND ${isSound};
  END;
  CREATE TEMP TRIGGER seal_persona_added AFTER INSERT ON main.persona BEGIN
    INSERT OR REPLACE INTO persona_seal (persona_id, persona, sealed)
      SELECT new.id, row, seal_persona(new.id, NULL, row, NULL) FROM (SELECT seal_persona_row(${fresh(personaColumns)}) AS row);
  END;
  CREATE TEMP TRIGGER seal_persona_changed AFTER UPDATE ON main.persona BEGIN
    UPDATE persona_seal SET persona = seal_persona_row(${fresh(personaColumns)}),
        sealed = seal_persona(persona_id, scope_id, seal_persona_row(${fresh(personaColumns)}), state)
      WHERE persona_id = new.id AND persona = seal_persona_row(${former(personaColumns)}) AND ${isSound};
  END;
  CREATE TEMP TRIGGER seal_persona_removed AFTER DELETE ON main.persona BEGIN
    DELETE FROM persona_seal WHERE persona_id = old.id;
  END;
  CREATE TEMP TRIGGER seal_state_added AFTER INSERT ON main.persona_state BEGIN
    UPDATE persona_seal SET state = seal_state(${fresh(stateColumns)}),
        sealed = seal_persona(persona_id, scope_id, persona, seal_state(${fresh(stateColumns)}))
      WHERE persona_id = new.persona_id AND state IS NULL AND ${isSound};
  END;
  CREATE TEMP TRIGGER seal_state_changed AFTER UPDATE ON main.persona_state BEGIN
    UPDATE persona_seal SET state = seal_state(${fresh(stateColumns)}),
        sealed = seal_persona(persona_id, scope_id, persona, seal_state(${fresh(stateColumns)}))
      WHERE persona_id = new.persona_id AND state = seal_state(${former(stateColumns)}) AND ${isSound};
  END;
  CREATE TEMP TRIGGER seal_state_removed AFTER DELETE ON main.persona_state BEGIN
    UPDATE persona_seal SET state = NULL, sealed = seal_persona(persona_id, scope_id, persona, NULL)
      WHERE persona_id = old.persona_id AND ${isSound};
  END;
`
