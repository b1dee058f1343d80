/**
 * The amount that each owner stores, counted at each write, with the same sums as SQLite's usage-schema.ts. Triggers
 * count once for each statement, for any number of rows. A table with counted rows names its owner's counter:
 * `memory_scope.bytes` by scope_id, `persona_usage.bytes` by persona_id, `adaptation_log.bytes` by log_id.
 */
export interface CountedTable {
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
export function bytesOfColumns(columns: readonly string[]): (row: string) => string {
  return (row) => columns.map((column) => `coalesce(octet_length(${row}.${column}), 0)`).join(' + ')
}

/** The script that makes a table count; for the migration that creates it. */
export function counted({ table, owner, key, bytes }: CountedTable): string {
  const { table: sums, id } = counter[owner]
  const rows = (sign: '' | '-', from: string) =>
    `SELECT ${key('r')} AS k, ${sign}(${bytes('r')})::bigint AS b FROM ${from} r`
  const trigger = (name: string, event: string, transition: string, from: string) => `
    CREATE FUNCTION usage_${table}_${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      UPDATE ${sums} s SET bytes = s.bytes + d.b
        FROM (SELECT k, sum(b)::bigint AS b FROM (${from}) rows GROUP BY k) d WHERE s.${id} = d.k AND d.b <> 0;
      RETURN NULL;
    END $$;
    CREATE TRIGGER usage_${table}_${name} AFTER ${event} ON ${table} REFERENCING ${transition}
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
export function countedForUser(table: string, { memories }: { readonly memories: boolean }): string {
  const amount = (row: 'OLD' | 'NEW') => (memories ? `${row}.memories` : '0')
  const give = `INSERT INTO user_usage AS u (user_id, memories, bytes) VALUES (NEW.user_id, ${amount('NEW')}, NEW.bytes)
      ON CONFLICT (user_id) DO UPDATE SET memories = u.memories + excluded.memories, bytes = u.bytes + excluded.bytes;`
  const take = `UPDATE user_usage SET memories = memories - ${amount('OLD')}, bytes = bytes - OLD.bytes
      WHERE user_id = OLD.user_id;
    DELETE FROM user_usage WHERE user_id = OLD.user_id AND memories = 0 AND bytes = 0;`
  return `
    CREATE FUNCTION usage_of_${table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF TG_OP = 'INSERT' THEN ${give}
      ELSIF TG_OP = 'DELETE' THEN ${take}
      ELSIF NEW.user_id = OLD.user_id THEN
        UPDATE user_usage SET memories = memories + ${amount('NEW')} - ${amount('OLD')}, bytes = bytes + NEW.bytes - OLD.bytes
          WHERE user_id = NEW.user_id;
      ELSE ${take} ${give}
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER usage_of_${table}_row AFTER INSERT OR DELETE ON ${table}
      FOR EACH ROW EXECUTE FUNCTION usage_of_${table}();
    CREATE TRIGGER usage_of_${table}_changed AFTER UPDATE OF ${memories ? 'memories, ' : ''}bytes, user_id ON ${table}
      FOR EACH ROW WHEN (OLD.bytes <> NEW.bytes OR OLD.user_id <> NEW.user_id${memories ? ' OR OLD.memories <> NEW.memories' : ''})
      EXECUTE FUNCTION usage_of_${table}();`
}
