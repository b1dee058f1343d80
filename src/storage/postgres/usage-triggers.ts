/**
 * The amount that each owner stores, counted at each write, with the same sums as SQLite's usage-triggers.ts. Triggers
 * count once for each statement, for any number of rows. A table with counted rows names its owner's counter:
 * `memory_scope.bytes` by scope_id, `persona_usage.bytes` by persona_id, `adaptation_log.bytes` by log_id.
 */
interface CountedTable {
  readonly table: string
  readonly owner: 'scope' | 'persona' | 'log'
  /** SQL for the owner's number or id, from the alias of a row. */
  readonly key: (row: string) => string
  /** SQL for the bytes of a row, from its alias; never null. */
  readonly bytes: (row: string) => string
}

const counter = {
  scope: { table: 'memory_scope', id: 'scope_id' },
  persona: { table: 'persona_usage', id: 'persona_id' },
  log: { table: 'adaptation_log', id: 'log_id' },
} as const

/** SQL for the bytes of some columns of text or bytea together. */
function bytesOfColumns(columns: readonly string[]): (row: string) => string {
  return (row) => columns.map((column) => `coalesce(octet_length(${row}.${column}), 0)`).join(' + ')
}

/** The script that makes a table count. */
function counted({ table, owner, key, bytes }: CountedTable): string {
  const { table: sums, id } = counter[owner]
  const rows = (sign: '' | '-', from: string) =>
    `SELECT ${key('r')} AS k, ${sign}(${bytes('r')})::bigint AS b FROM ${from} r`
  const trigger = (name: string, event: string, transition: string, from: string) => `
    CREATE OR REPLACE FUNCTION usage_${table}_${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      UPDATE ${sums} s SET bytes = s.bytes + d.b
        FROM (SELECT k, sum(b)::bigint AS b FROM (${from}) rows GROUP BY k) d WHERE s.${id} = d.k AND d.b <> 0;
      RETURN NULL;
    END $$;
    CREATE OR REPLACE TRIGGER usage_${table}_${name} AFTER ${event} ON ${table} REFERENCING ${transition}
      FOR EACH STATEMENT EXECUTE FUNCTION usage_${table}_${name}();`
  return [
    trigger('added', 'INSERT', 'NEW TABLE AS added', rows('', 'added')),
    trigger('removed', 'DELETE', 'OLD TABLE AS removed', rows('-', 'removed')),
    trigger(
      'changed',
      'UPDATE',
      'OLD TABLE AS removed NEW TABLE AS added',
      `${rows('-', 'removed')} UNION ALL ${rows('', 'added')}`,
    ),
  ].join('')
}

/**
 * The script that adds a table's counters to those of their users: `user_usage` holds one row for each, so that the check of a
 * write costs the same for an owner of many personas. The table has the columns user_id and bytes; `memories` says whether also
 * memories.
 */
function countedForUser(table: string, { memories }: { readonly memories: boolean }): string {
  const amount = (row: 'OLD' | 'NEW') => (memories ? `${row}.memories` : '0')
  const give = `INSERT INTO user_usage AS u (user_id, memories, bytes) VALUES (NEW.user_id, ${amount('NEW')}, NEW.bytes)
      ON CONFLICT (user_id) DO UPDATE SET memories = u.memories + excluded.memories, bytes = u.bytes + excluded.bytes;`
  const take = `UPDATE user_usage SET memories = memories - ${amount('OLD')}, bytes = bytes - OLD.bytes
      WHERE user_id = OLD.user_id;
    DELETE FROM user_usage WHERE user_id = OLD.user_id AND memories = 0 AND bytes = 0;`
  return `
    CREATE OR REPLACE FUNCTION usage_of_${table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF TG_OP = 'INSERT' THEN ${give}
      ELSIF TG_OP = 'DELETE' THEN ${take}
      ELSIF NEW.user_id = OLD.user_id THEN
        UPDATE user_usage SET memories = memories + ${amount('NEW')} - ${amount('OLD')}, bytes = bytes + NEW.bytes - OLD.bytes
          WHERE user_id = NEW.user_id;
      ELSE ${take} ${give}
      END IF;
      RETURN NULL;
    END $$;
    CREATE OR REPLACE TRIGGER usage_of_${table}_row AFTER INSERT OR DELETE ON ${table}
      FOR EACH ROW EXECUTE FUNCTION usage_of_${table}();
    CREATE OR REPLACE TRIGGER usage_of_${table}_changed AFTER UPDATE OF ${memories ? 'memories, ' : ''}bytes, user_id ON ${table}
      FOR EACH ROW WHEN (OLD.bytes <> NEW.bytes OR OLD.user_id <> NEW.user_id${memories ? ' OR OLD.memories <> NEW.memories' : ''})
      EXECUTE FUNCTION usage_of_${table}();`
}

const persona = bytesOfColumns(['name', 'description', 'system_prompt', 'parameters', 'extra'])

function ofPersona(table: string, bytes: CountedTable['bytes']): string {
  return counted({ table, owner: 'persona', key: (row) => `${row}.persona_id`, bytes })
}

/** All triggers that count; they work in the statement of the program that writes. */
export const usageTriggers = `
  ${countedForUser('persona_usage', { memories: false })}
  ${countedForUser('memory_scope', { memories: true })}
  CREATE OR REPLACE FUNCTION persona_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO persona_usage (persona_id, user_id, bytes) VALUES (NEW.id, NEW.user_id, ${persona('NEW')});
    INSERT INTO persona_revision (persona_id, revision) VALUES (NEW.id, floor(random() * 1099511627776)::bigint);
    RETURN NULL;
  END $$;
  CREATE OR REPLACE TRIGGER persona_added AFTER INSERT ON persona FOR EACH ROW EXECUTE FUNCTION persona_added();
  CREATE OR REPLACE FUNCTION persona_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE persona_revision SET revision = revision + 1 WHERE persona_id = NEW.id;
    UPDATE persona_usage SET user_id = NEW.user_id, bytes = bytes + (${persona('NEW')}) - (${persona('OLD')})
     WHERE persona_id = NEW.id;
    RETURN NULL;
  END $$;
  CREATE OR REPLACE TRIGGER persona_changed AFTER UPDATE ON persona FOR EACH ROW EXECUTE FUNCTION persona_changed();
  CREATE OR REPLACE FUNCTION usage_of_log() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP <> 'INSERT' THEN
      UPDATE persona_usage SET bytes = bytes - OLD.bytes WHERE persona_id = OLD.persona_id AND OLD.bytes <> 0;
    END IF;
    IF TG_OP <> 'DELETE' THEN
      UPDATE persona_usage SET bytes = bytes + NEW.bytes WHERE persona_id = NEW.persona_id AND NEW.bytes <> 0;
    END IF;
    RETURN NULL;
  END $$;
  CREATE OR REPLACE TRIGGER usage_of_log AFTER INSERT OR DELETE OR UPDATE OF bytes, persona_id ON adaptation_log
    FOR EACH ROW EXECUTE FUNCTION usage_of_log();
  ${counted({ table: 'adaptation', owner: 'log', key: (row) => `${row}.log_id`, bytes: bytesOfColumns(['record']) })}
  ${ofPersona('persona_state', bytesOfColumns(['learned']))}
  ${ofPersona('persona_profile', bytesOfColumns(['lines', 'history']))}
  ${ofPersona('persona_carried', bytesOfColumns(['fields']))}
  ${ofPersona('persona_backup', (row) => `${row}.bytes`)}
  ${counted({ table: 'memory', owner: 'scope', key: (row) => `${row}.scope_id`, bytes: bytesOfColumns(['content', 'metadata']) })}
  ${counted({ table: 'memory_carried', owner: 'scope', key: (row) => `${row}.memory_id >> 24`, bytes: bytesOfColumns(['fields']) })}
  ${
    // Four bytes for each dimension, however they are kept.
    counted({
      table: 'memory_vector',
      owner: 'scope',
      key: (row) => `(${row}.memory_id >> 24)::int`,
      bytes: (row) => `(SELECT 4 * e.dimension FROM embedding_space e WHERE e.space_id = ${row}.space_id)`,
    })
  }`
