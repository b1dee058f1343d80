import { memoryColumns, personaColumns, stateColumns } from '../shared/seals.ts'

/** The setting by which a transaction has its writes sealed: the two pads of HMAC in hexadecimal, 64 bytes each. */
export const sealSetting = 'aichat.seal_key'

const setting = `current_setting('${sealSetting}', true)`

/** SQL for whether the transaction has the key. */
export const hasKey = `coalesce(${setting}, '') <> ''`

/** SQL for the texts of columns, as `seal_fields` and `sealedMessage` take them; a double is its eight bytes. */
function fieldsOf(kind: string, columns: string, row: string): string {
  const texts = columns.split(', ').map((column) => {
    if (column === 'importance' || column === 'worth') return `encode(float8send(${row}.${column}), 'hex')`
    return `${row}.${column}::text`
  })
  return [`'${kind}'`, ...texts].join(', ')
}

/** SQL for the bytes that the seal of a row covers, by the table of the row. */
export const sealedMessage = {
  memory: message(`ARRAY[${fieldsOf('memory', memoryColumns, 'memory')}]`),
  persona: message(`ARRAY[${fieldsOf('persona row', personaColumns, 'persona')}]`),
  state: message(`ARRAY[${fieldsOf('state', stateColumns, 'persona_state')}]`),
} as const

function message(fields: string): string {
  return `convert_to(to_json(${fields})::text, 'UTF8')`
}

const memorySeal = (row: string) => `seal_fields(${fieldsOf('memory', memoryColumns, row)})`
const personaRowSeal = (row: string) => `seal_fields(${fieldsOf('persona row', personaColumns, row)})`
const stateSeal = (row: string) => `seal_fields(${fieldsOf('state', stateColumns, row)})`
const personaSeal = (id: string, scope: string, persona: string, state: string) =>
  `seal_fields('persona', ${id}, (${scope})::text, encode(${persona}, 'hex'), encode(${state}, 'hex'))`
const scopeSeal = (scope: string, memories: string, sum: string) =>
  `seal_fields('scope', (${scope})::text, (${memories})::text, (${sum})::text)`
const vectorSeal = (row: string, bytes: string) =>
  `seal_code(convert_to('vector ' || ${row}.memory_id || ' ' || ${row}.space_id || ' ', 'UTF8') || ${bytes})`

const isSound = `s.sealed = ${personaSeal('s.persona_id', 's.scope_id', 's.persona', 's.state')}`
const scopeOf = (persona: string) =>
  `(SELECT max(memory_scope.scope_id) FROM memory_scope WHERE memory_scope.persona_id = ${persona})`

/** SQL that sums seals, in words of 32 bits; null for none. */
function sumOf(seal: string): string {
  return Array.from({ length: 8 }, (_, word) => {
    const digits = `('x' || encode(substr(${seal}, ${word * 4 + 1}, 4), 'hex'))::bit(32)::bigint`
    return `sum(${digits}) * ${2n ** BigInt(32 * (7 - word))}`
  }).join(' + ')
}

const sumEnd = 2n ** 256n
const changedSum = `mod(mod(s.sum + d.sum, ${sumEnd}) + ${sumEnd}, ${sumEnd})`

/** Changes the seals of scopes by the rows of a query: scope_id, and the gained memories and sum. A broken one stays as it is. */
const resealScopes = (from: string) => `
  UPDATE memory_scope_seal s SET memories = s.memories + d.memories, sum = ${changedSum},
      sealed = ${scopeSeal('s.scope_id', 's.memories + d.memories', changedSum)}
    FROM (${from}) d
    WHERE s.scope_id = d.scope_id AND s.sealed = ${scopeSeal('s.scope_id', 's.memories', 's.sum')}`

/**
 * SQL that seals everything as it is, in a transaction that has the key and in which nobody else writes.
 * `DELETE FROM` the tables goes before it.
 */
export function sealEverything(vectorBytes: string): string {
  return `
    INSERT INTO memory_seal (memory_id, id, sealed, vector)
      SELECT memory.memory_id, memory.id, ${memorySeal('memory')}, ${vectorSeal('memory_vector', vectorBytes)}
        FROM memory LEFT JOIN memory_vector ON memory_vector.memory_id = memory.memory_id;
    INSERT INTO memory_scope_seal (scope_id, memories, sum, sealed)
      SELECT scope_id, memories, sum, ${scopeSeal('scope_id', 'memories', 'sum')} FROM (
        SELECT scope_id, count(memory_seal.memory_id) AS memories, mod(coalesce(${sumOf('memory_seal.sealed')}, 0), ${sumEnd}) AS sum
          FROM memory_scope LEFT JOIN memory USING (scope_id) LEFT JOIN memory_seal USING (memory_id) GROUP BY scope_id) sums;
    ${sealPersonas('true')};`
}

/** SQL that seals the rows of personas with their states and places as they are. */
export function sealPersonas(where: string): string {
  return `
    INSERT INTO persona_seal (persona_id, scope_id, persona, state, sealed)
      SELECT id, scope, row_seal, state_seal, ${personaSeal('id', 'scope', 'row_seal', 'state_seal')} FROM (
        SELECT persona.id, ${personaRowSeal('persona')} AS row_seal, ${scopeOf('persona.id')} AS scope,
            CASE WHEN persona_state.persona_id IS NOT NULL THEN ${stateSeal('persona_state')} END AS state_seal
          FROM persona LEFT JOIN persona_state ON persona_state.persona_id = persona.id WHERE ${where}) rows
      ON CONFLICT (persona_id) DO UPDATE SET scope_id = excluded.scope_id, persona = excluded.persona,
        state = excluded.state, sealed = excluded.sealed`
}

/** A trigger's function; it does nothing without the key. Rows are looked up by key, also by a plan made for few of them. */
const triggerFunction = (name: string, body: string) => `
  CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$ BEGIN
    IF NOT (${hasKey}) THEN RETURN NULL; END IF;
    ${body}
    RETURN NULL;
  END $$;`

/** Triggers for each statement, with the rows before it as `removed` and those after it as `added`. */
const statementTriggers = (table: string, name: string) =>
  Object.entries({
    INSERT: 'NEW TABLE AS added',
    UPDATE: 'OLD TABLE AS removed NEW TABLE AS added',
    DELETE: 'OLD TABLE AS removed',
  })
    .map(
      ([event, transition]) => `
  CREATE OR REPLACE TRIGGER ${name}_${event.toLowerCase()} AFTER ${event} ON ${table} REFERENCING ${transition}
    FOR EACH STATEMENT EXECUTE FUNCTION ${name}();`,
    )
    .join('')

const memoryBody = `
    IF TG_OP = 'INSERT' THEN
      WITH made AS (
        INSERT INTO memory_seal (memory_id, id, sealed) SELECT r.memory_id, r.id, ${memorySeal('r')} FROM added r
          ON CONFLICT (memory_id) DO UPDATE SET id = excluded.id, sealed = excluded.sealed, vector = NULL
          RETURNING memory_id, sealed)
      ${resealScopes(`SELECT (memory_id >> 24)::int AS scope_id, count(*) AS memories, ${sumOf('sealed')} AS sum FROM made GROUP BY 1`)};
    ELSIF TG_OP = 'UPDATE' THEN
      WITH renewed AS MATERIALIZED (
          SELECT o.memory_id, n.id, ${memorySeal('o')} AS going, ${memorySeal('n')} AS coming
            FROM removed o JOIN added n ON n.memory_id = o.memory_id),
        made AS (
          UPDATE memory_seal s SET id = r.id, sealed = r.coming FROM renewed r
            WHERE s.memory_id = r.memory_id AND s.sealed = r.going AND r.coming <> r.going
            RETURNING s.memory_id, r.coming, r.going)
      ${resealScopes(`SELECT (memory_id >> 24)::int AS scope_id, 0 AS memories, ${sumOf('coming')} - (${sumOf('going')}) AS sum FROM made GROUP BY 1`)};
    ELSE
      WITH gone AS (
        DELETE FROM memory_seal s USING removed r WHERE s.memory_id = r.memory_id RETURNING s.memory_id, s.sealed)
      ${resealScopes(`SELECT (memory_id >> 24)::int AS scope_id, -count(*) AS memories, -(${sumOf('sealed')}) AS sum FROM gone GROUP BY 1`)};
    END IF;`

/** The column of vectors changes with the extension, see vectors-change-over.ts; a branch is planned when it first runs. */
const vectorBody = `
    IF TG_OP = 'DELETE' THEN
      UPDATE memory_seal s SET vector = NULL FROM removed r WHERE s.memory_id = r.memory_id AND s.vector IS NOT NULL;
    ELSIF EXISTS (SELECT FROM pg_attribute WHERE attrelid = TG_RELID AND attname = 'bytes' AND NOT attisdropped) THEN
      UPDATE memory_seal s SET vector = ${vectorSeal('r', 'r.bytes')} FROM added r WHERE s.memory_id = r.memory_id;
    ELSE
      UPDATE memory_seal s SET vector = ${vectorSeal('r', 'vector_send(r.vector)')} FROM added r
        WHERE s.memory_id = r.memory_id;
    END IF;`

const placed = (where: string) => `
      UPDATE persona_seal s SET scope_id = ${scopeOf('s.persona_id')},
          sealed = ${personaSeal('s.persona_id', scopeOf('s.persona_id'), 's.persona', 's.state')}
        WHERE ${where} AND ${isSound}`

const scopeBody = `
    IF TG_OP = 'INSERT' THEN
      INSERT INTO memory_scope_seal (scope_id, memories, sum, sealed)
        VALUES (NEW.scope_id, 0, 0, ${scopeSeal('NEW.scope_id', "'0'", "'0'")})
        ON CONFLICT (scope_id) DO UPDATE SET memories = 0, sum = 0, sealed = excluded.sealed;
      ${placed(`s.persona_id = NEW.persona_id AND (s.scope_id IS NULL OR s.scope_id IN (
        SELECT m.scope_id FROM memory_scope m WHERE m.persona_id = NEW.persona_id AND m.scope_id <> NEW.scope_id))`)};
    ELSIF TG_OP = 'UPDATE' THEN
      ${placed('s.persona_id IN (OLD.persona_id, NEW.persona_id)')};
    ELSE
      DELETE FROM memory_scope_seal WHERE scope_id = OLD.scope_id;
      ${placed('s.persona_id = OLD.persona_id')};
    END IF;`

const personaBody = `
    IF TG_OP = 'INSERT' THEN
      ${sealPersonas('persona.id = NEW.id')};
    ELSIF TG_OP = 'UPDATE' THEN
      UPDATE persona_seal s SET persona = ${personaRowSeal('NEW')},
          sealed = ${personaSeal('s.persona_id', 's.scope_id', personaRowSeal('NEW'), 's.state')}
        WHERE s.persona_id = NEW.id AND s.persona = ${personaRowSeal('OLD')} AND ${isSound};
    ELSE
      DELETE FROM persona_seal WHERE persona_id = OLD.id;
    END IF;`

const stateChanged = (state: string, where: string) => `
      UPDATE persona_seal s SET state = ${state}, sealed = ${personaSeal('s.persona_id', 's.scope_id', 's.persona', state)}
        WHERE ${where} AND ${isSound}`

const stateBody = `
    IF TG_OP = 'INSERT' THEN
      ${stateChanged(stateSeal('NEW'), 's.persona_id = NEW.persona_id AND s.state IS NULL')};
    ELSIF TG_OP = 'UPDATE' THEN
      ${stateChanged(stateSeal('NEW'), `s.persona_id = NEW.persona_id AND s.state = ${stateSeal('OLD')}`)};
    ELSE
      ${stateChanged('NULL::bytea', 's.persona_id = OLD.persona_id')};
    END IF;`

/** Their names come before those of the counters: a writer then locks a persona's seal before its counters, as all do. */
export const sealTriggers = `
  CREATE OR REPLACE FUNCTION seal_code(message bytea) RETURNS bytea LANGUAGE sql STABLE AS $$
    SELECT sha256(decode(right(${setting}, 128), 'hex') || sha256(decode(left(${setting}, 128), 'hex') || message)) $$;
  CREATE OR REPLACE FUNCTION seal_fields(VARIADIC fields text[]) RETURNS bytea LANGUAGE sql STABLE AS $$
    SELECT seal_code(${message('fields')}) $$;
  ${triggerFunction('aichat_seal_memory', memoryBody)}
  ${statementTriggers('memory', 'aichat_seal_memory')}
  ${triggerFunction('aichat_seal_vector', vectorBody)}
  ${statementTriggers('memory_vector', 'aichat_seal_vector')}
  ${triggerFunction('aichat_seal_scope', scopeBody)}
  CREATE OR REPLACE TRIGGER aichat_seal_scope AFTER INSERT OR DELETE OR UPDATE OF persona_id ON memory_scope
    FOR EACH ROW EXECUTE FUNCTION aichat_seal_scope();
  ${triggerFunction('aichat_seal_persona', personaBody)}
  CREATE OR REPLACE TRIGGER aichat_seal_persona AFTER INSERT OR DELETE OR UPDATE ON persona
    FOR EACH ROW EXECUTE FUNCTION aichat_seal_persona();
  ${triggerFunction('aichat_seal_state', stateBody)}
  CREATE OR REPLACE TRIGGER aichat_seal_state AFTER INSERT OR DELETE OR UPDATE ON persona_state
    FOR EACH ROW EXECUTE FUNCTION aichat_seal_state();
`
