import { statementsOf } from '../schema/statements.ts'
import { tablesOf } from '../schema/tables.ts'
import { schemaName } from '../schema/version.ts'
import { loreTriggers } from './lore-triggers.ts'
import { revisionTriggers } from './revision-triggers.ts'
import { sealTriggers } from './seal-triggers.ts'
import type { Transaction } from './sql.ts'
import { usageTriggers } from './usage-triggers.ts'
import { makeVectorTable, takeExtension } from './vectors-table.ts'

/**
 * Brings the schema of any earlier build, or an empty database, to the present one: adds the tables, columns and indexes that
 * are missing, and makes the functions and triggers anew.
 */
export async function bringUp(tx: Transaction): Promise<void> {
  const columns = await tx.rows<{ table: string; column: string }>(
    `SELECT table_name AS table, column_name AS column FROM information_schema.columns
      WHERE table_schema = current_schema()`,
  )
  const found = new Map<string, Set<string>>()
  for (const { table, column } of columns) found.set(table, (found.get(table) ?? new Set()).add(column))
  const apart = new Set(tablesOf('postgres').flatMap(({ name, isMadeApart }) => (isMadeApart ? [name] : [])))
  await tx.script(nameKeys)
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
  await tx.script([sealTriggers, usageTriggers, revisionTriggers, loreTriggers(), otherTriggers].join('\n'))
  await tx.run('INSERT INTO migration (name) VALUES ($1)', [schemaName])
}

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
