/**
 * The amount that each owner stores, counted as it is stored: memories, and bytes of personas (their fields, memories,
 * labels, vectors, logs, states, passthrough fields) and of the files of their backups. Indexes are not
 * counted, nor are conversations, which are no part of a persona.
 */
const parts = [
  { table: 'memory', owner: 'scope', key: 'scope_id', columns: ['content', 'metadata'] },
  { table: 'memory_vector', owner: 'scope', key: 'memory_id >> 24', columns: ['vector'] },
  { table: 'memory_carried', owner: 'scope', key: 'memory_id >> 24', columns: ['fields'] },
  { table: 'adaptation', owner: 'log', key: 'log_id', columns: ['record'] },
  { table: 'persona_state', owner: 'persona', key: 'persona_id', columns: ['learned'] },
  { table: 'persona_profile', owner: 'persona', key: 'persona_id', columns: ['lines', 'history'] },
  { table: 'persona_carried', owner: 'persona', key: 'persona_id', columns: ['fields'] },
  { table: 'persona_backup', owner: 'persona', key: 'persona_id', columns: ['bytes'] },
  {
    table: 'persona',
    owner: 'persona',
    key: 'id',
    columns: ['name', 'description', 'system_prompt', 'parameters', 'extra'],
  },
] as const

type Part = (typeof parts)[number]

/** Its row is counted by the statement that begins to count for it. */
const personaPart = parts.find((part) => part.table === 'persona')!

/** The bytes of a row; a backup's are a number that is in it. Older shells of SQLite know no octet_length. */
function bytesOf({ table, columns }: Part, row: string): string {
  if (table === 'persona_backup') return `${row}.bytes`
  return columns.map((column) => `ifnull(length(CAST(${row}.${column} AS BLOB)), 0)`).join(' + ')
}

function keyOf({ key }: Part, row: string): string {
  return `${row}.${key}`
}

const table = { scope: 'memory_scope', persona: 'persona_usage', log: 'adaptation_log' } as const
const id = { scope: 'scope_id', persona: 'persona_id', log: 'log_id' } as const

function triggersOf(part: Part): string {
  const count = (sign: '+' | '-', row: string) =>
    `UPDATE ${table[part.owner]} SET bytes = bytes ${sign} (${bytesOf(part, row)})
       WHERE ${id[part.owner]} = ${keyOf(part, row)};`
  const isCounted = part === personaPart
  return `
    ${isCounted ? '' : `CREATE TRIGGER usage_${part.table}_added AFTER INSERT ON ${part.table} BEGIN ${count('+', 'new')} END;`}
    CREATE TRIGGER usage_${part.table}_removed AFTER DELETE ON ${part.table} BEGIN ${count('-', 'old')} END;
    CREATE TRIGGER usage_${part.table}_changed AFTER UPDATE OF ${part.columns.join(', ')} ON ${part.table} BEGIN
      ${count('-', 'old')} ${count('+', 'new')}
    END;`
}

function sumsOf(owner: Part['owner'], asked: string): string {
  return parts
    .filter((part) => part.owner === owner)
    .map((part) => {
      const rows =
        part.owner === 'scope' && part.key !== 'scope_id'
          ? `counted.memory_id BETWEEN ${asked} * 16777216 AND ${asked} * 16777216 + 16777215`
          : `${keyOf(part, 'counted')} = ${asked}`
      return `(SELECT ifnull(sum(${bytesOf(part, 'counted')}), 0) FROM ${part.table} AS counted WHERE ${rows})`
    })
    .join(' + ')
}

/** The triggers that count what each owner stores. */
export const usageTriggers = `
  CREATE TRIGGER usage_persona_came AFTER INSERT ON persona BEGIN
    INSERT INTO persona_usage (persona_id, user_id, bytes) VALUES (new.id, new.user_id, ${bytesOf(personaPart, 'new')});
  END;
  CREATE TRIGGER usage_persona_given AFTER UPDATE OF user_id ON persona WHEN new.user_id <> old.user_id BEGIN
    UPDATE persona_usage SET user_id = new.user_id WHERE persona_id = new.id;
  END;
  CREATE TRIGGER usage_log_changed AFTER UPDATE OF bytes, persona_id ON adaptation_log BEGIN
    UPDATE persona_usage SET bytes = bytes - old.bytes WHERE persona_id = old.persona_id;
    UPDATE persona_usage SET bytes = bytes + new.bytes WHERE persona_id = new.persona_id;
  END;
  CREATE TRIGGER usage_log_removed AFTER DELETE ON adaptation_log BEGIN
    UPDATE persona_usage SET bytes = bytes - old.bytes WHERE persona_id = old.persona_id;
  END;
  ${['memory_scope', 'persona_usage'].map(userTriggers).join('')}
  ${parts.map(triggersOf).join('')}`

/** Counts what is stored already, for a database that did not count before. */
export const countUsage = `
  UPDATE memory_scope SET bytes = ${sumsOf('scope', 'memory_scope.scope_id')};
  UPDATE adaptation_log SET bytes = ${sumsOf('log', 'adaptation_log.log_id')};
  INSERT INTO persona_usage (persona_id, user_id, bytes)
    SELECT id, user_id, ${sumsOf('persona', 'persona.id')}
        + (SELECT ifnull(sum(bytes), 0) FROM adaptation_log WHERE persona_id = persona.id)
      FROM persona;
  INSERT INTO user_usage (user_id, memories, bytes)
    SELECT user_id, sum(memories), sum(bytes) FROM (
      SELECT user_id, memories, bytes FROM memory_scope UNION ALL SELECT user_id, 0, bytes FROM persona_usage)
    GROUP BY user_id;`

/** The same numbers by owner: the check of a write must cost the same for an owner of many personas. */
function userTriggers(counted: string): string {
  const memories = (row: string) => (counted === 'memory_scope' ? `${row}.memories` : '0')
  const take = `UPDATE user_usage SET memories = memories - ${memories('old')}, bytes = bytes - old.bytes
      WHERE user_id = old.user_id;`
  const give = `INSERT INTO user_usage (user_id, memories, bytes) VALUES (new.user_id, ${memories('new')}, new.bytes)
      ON CONFLICT (user_id) DO UPDATE SET memories = memories + excluded.memories, bytes = bytes + excluded.bytes;`
  const changed = counted === 'memory_scope' ? 'memories, bytes, user_id' : 'bytes, user_id'
  return `
    CREATE TRIGGER usage_of_${counted}_added AFTER INSERT ON ${counted} BEGIN ${give} END;
    CREATE TRIGGER usage_of_${counted}_changed AFTER UPDATE OF ${changed} ON ${counted} BEGIN ${take} ${give} END;
    CREATE TRIGGER usage_of_${counted}_removed AFTER DELETE ON ${counted} BEGIN
      ${take}
      DELETE FROM user_usage WHERE user_id = old.user_id AND memories = 0 AND bytes = 0;
    END;`
}
