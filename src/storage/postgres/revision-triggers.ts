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
export const revisionTriggers = `
  ${revised('persona_state', (row) => `${row}.persona_id`)}
  ${revised('persona_carried', (row) => `${row}.persona_id`, ['INSERT', 'UPDATE'])}
  ${revised('memory', (row) => personaOfScope(`${row}.scope_id`))}
  ${revised('memory_carried', (row) => personaOfScope(`${row}.memory_id >> 24`), ['INSERT', 'UPDATE'])}
  ${revisedByScope}`
