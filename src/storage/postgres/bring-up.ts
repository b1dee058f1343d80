import { statementsOf } from '../schema/statements.ts'
import { formerTables, tablesOf } from '../schema/tables.ts'
import { schemaName } from '../schema/version.ts'
import type { Transaction } from './sql.ts'
import { usageTriggers } from './usage-triggers.ts'
import { makeVectorTable, takeExtension } from './vectors-table.ts'

/**
 * Brings the schema of any earlier build, or an empty database, to the present one: adds the tables, columns and indexes that
 * are missing, removes those without use, and makes the functions and triggers again.
 */
export async function bringUp(tx: Transaction): Promise<void> {
  const columns = await tx.rows<{ table: string; column: string }>(
    `SELECT table_name AS table, column_name AS column FROM information_schema.columns
      WHERE table_schema = current_schema()`,
  )
  const found = new Map<string, Set<string>>()
  for (const { table, column } of columns) found.set(table, (found.get(table) ?? new Set()).add(column))
  const apart = new Set(tablesOf('postgres').flatMap(({ name, isMadeApart }) => (isMadeApart ? [name] : [])))
  await tx.script([dropFormer, 'DROP INDEX IF EXISTS conversation_unended', nameKeys].join(';\n'))
  for (const { name, create, columns: wanted, indexes, fill } of statementsOf('postgres')) {
    const there = found.get(name)
    if (apart.has(name)) {
      if (!there && name === 'memory_vector') await makeVectorTable(tx, await takeExtension(tx))
      continue
    }
    const missing = there ? [...wanted].filter(([column]) => !there.has(column)) : []
    await tx.script(
      [
        ...(there ? missing.map(([, definition]) => `ALTER TABLE "${name}" ADD COLUMN ${definition}`) : [create]),
        ...[...indexes.values()].map((index) => index.replace('INDEX', 'INDEX IF NOT EXISTS')),
        ...(!there && fill !== undefined ? [fill] : []),
      ].join(';\n'),
    )
  }
  await tx.script([usageTriggers, revisionTriggers, loreTriggers(), otherTriggers].join('\n'))
  await tx.run('INSERT INTO migration (name) VALUES ($1)', [schemaName])
}

/** Removes the tables of earlier builds, with the functions and triggers of seals that wrote them. */
const dropFormer = `
  DO $$ DECLARE former regprocedure; BEGIN
    FOR former IN SELECT oid FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
      AND (proname LIKE 'aichat\\_seal\\_%' OR proname IN ('seal_code', 'seal_fields'))
    LOOP
      EXECUTE format('DROP FUNCTION IF EXISTS %s CASCADE', former);
    END LOOP;
  END $$;
  DROP TABLE IF EXISTS ${formerTables.join(', ')}`

/**
 * The text by which a name is found: itself, or the SHA-256 of a long one, since an index takes no text of over 2,704 bytes; no
 * other name has it. The encoding of a database never changes, which makes it immutable.
 */
const nameKeys = `
  CREATE OR REPLACE FUNCTION ledger_name_key(name text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT CASE WHEN octet_length(name) <= 200 AND NOT starts_with(name, 'sha256:') THEN name
      ELSE 'sha256:' || encode(sha256(convert_to(name, 'UTF8')), 'hex') END
  $$`

/** A backup's file is removed with its row, a conversation outlives its persona, and a zip is not compressed again. */
const otherTriggers = `
  CREATE OR REPLACE FUNCTION persona_backup_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM persona_backup_file WHERE backup_id = OLD.id;
    RETURN NULL;
  END $$;
  CREATE OR REPLACE TRIGGER persona_backup_removed AFTER DELETE ON persona_backup
    FOR EACH ROW EXECUTE FUNCTION persona_backup_removed();
  CREATE OR REPLACE FUNCTION forget_persona_of_conversations() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE conversation SET persona_id = NULL WHERE persona_id = OLD.id;
    RETURN NULL;
  END $$;
  CREATE OR REPLACE TRIGGER conversation_forgets_persona AFTER DELETE ON persona
    FOR EACH ROW EXECUTE FUNCTION forget_persona_of_conversations();
  ALTER TABLE persona_backup_part ALTER COLUMN bytes SET STORAGE EXTERNAL;`

/**
 * Counts the changes of a scope's lore by time, in milliseconds, so that no number comes twice, also not for a scope that was
 * removed and made again.
 */
function loreTriggers(): string {
  const trigger = (event: 'INSERT' | 'UPDATE' | 'DELETE', transition: string, written: string) => `
    CREATE OR REPLACE FUNCTION lore_${event.toLowerCase()}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      UPDATE memory_scope s SET lore = greatest(s.lore + 1, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
        WHERE s.scope_id IN (${written});
      RETURN NULL;
    END $$;
    CREATE OR REPLACE TRIGGER lore_${event.toLowerCase()} AFTER ${event} ON memory REFERENCING ${transition}
      FOR EACH STATEMENT EXECUTE FUNCTION lore_${event.toLowerCase()}();`
  const of = (rows: string) => `SELECT scope_id FROM ${rows} WHERE is_lore`
  return [
    trigger('INSERT', 'NEW TABLE AS added', of('added')),
    trigger('DELETE', 'OLD TABLE AS removed', of('removed')),
    trigger('UPDATE', 'OLD TABLE AS removed NEW TABLE AS added', `${of('removed')} UNION ALL ${of('added')}`),
  ].join('')
}

/**
 * The script that raises a persona's revision with every statement that writes rows of a table: see SQLite's revision-triggers.ts. `persona` takes the alias of a row and returns SQL for its persona's
 * id, or a query for it.
 */
function revised(
  table: string,
  persona: (row: string) => string,
  events: readonly ('INSERT' | 'UPDATE' | 'DELETE')[] = ['INSERT', 'UPDATE', 'DELETE'],
): string {
  return events
    .map((event) => {
      const name = `revision_${table}_${event.toLowerCase()}`
      return `
        CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          UPDATE persona_revision SET revision = revision + 1
           WHERE persona_id IN (SELECT ${persona('r')} FROM written r);
          RETURN NULL;
        END $$;
        CREATE OR REPLACE TRIGGER ${name} AFTER ${event} ON ${table}
          REFERENCING ${event === 'DELETE' ? 'OLD' : 'NEW'} TABLE AS written
          FOR EACH STATEMENT EXECUTE FUNCTION ${name}();`
    })
    .join('')
}

/** SQL for the persona of a scope, with the scope's number as SQL: for tables of memories. */
function personaOfScope(scope: string): string {
  return `(SELECT s.persona_id FROM memory_scope s WHERE s.scope_id = ${scope})`
}

/** The script for `memory_scope`: its memories move from persona to persona with it. */
const revisedByScope = `
  CREATE OR REPLACE FUNCTION revision_scope_moved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE persona_revision SET revision = revision + 1 WHERE persona_id IN (OLD.persona_id, NEW.persona_id);
    RETURN NULL;
  END $$;
  CREATE OR REPLACE TRIGGER revision_scope_moved AFTER UPDATE OF persona_id, user_id ON memory_scope
    FOR EACH ROW EXECUTE FUNCTION revision_scope_moved();`

/** All triggers that raise revisions, but for those of personas: see usage-triggers.ts. */
const revisionTriggers = `
  ${revised('persona_state', (row) => `${row}.persona_id`)}
  ${revised('persona_profile', (row) => `${row}.persona_id`)}
  ${revised('persona_carried', (row) => `${row}.persona_id`, ['INSERT', 'UPDATE'])}
  ${revised('memory', (row) => personaOfScope(`${row}.scope_id`))}
  ${revised('memory_carried', (row) => personaOfScope(`${row}.memory_id >> 24`), ['INSERT', 'UPDATE'])}
  ${revisedByScope}`
