/**
 * The triggers that raise a persona's revision with every write of its fields, state and memories, by any store or program.
 * A log changes with its state. Vectors do not count: a re-embedding would make every other write wait for its end.
 */
export const revisionTriggers = `
  CREATE TRIGGER revision_persona_added AFTER INSERT ON persona BEGIN
    INSERT INTO persona_revision (persona_id, revision) VALUES (new.id, ${first()});
  END;
  CREATE TRIGGER revision_persona_changed AFTER UPDATE ON persona BEGIN ${raise('new.id')} END;
  ${on('persona_state', ['INSERT', 'UPDATE', 'DELETE'], (row) => `${row}.persona_id`)}
  ${on('persona_profile', ['INSERT', 'UPDATE', 'DELETE'], (row) => `${row}.persona_id`)}
  ${on('persona_carried', ['INSERT', 'UPDATE'], (row) => `${row}.persona_id`)}
  ${on('memory', ['INSERT', 'UPDATE', 'DELETE'], (row) => personaOf(`${row}.scope_id`))}
  ${on('memory_carried', ['INSERT', 'UPDATE'], (row) => personaOf(`${row}.memory_id >> 24`))}
  CREATE TRIGGER revision_scope_moved AFTER UPDATE OF persona_id, user_id ON memory_scope BEGIN
    ${raise('old.persona_id')}
    ${raise('new.persona_id')}
  END;`

/** Gives a first revision to the personas of a database that had none before. */
export const beginRevisions = `INSERT INTO persona_revision (persona_id, revision) SELECT id, ${first()} FROM persona;`

/** Below 2^40: 2^53, up to which JavaScript's numbers are exact, is out of reach. */
function first(): string {
  return 'abs(random() >> 24)'
}

function raise(persona: string): string {
  return `UPDATE persona_revision SET revision = revision + 1 WHERE persona_id = ${persona};`
}

function personaOf(scope: string): string {
  return `(SELECT persona_id FROM memory_scope WHERE memory_scope.scope_id = ${scope})`
}

function on(table: string, events: readonly string[], personaIn: (row: string) => string): string {
  return events
    .map((event) => {
      const row = event === 'DELETE' ? 'old' : 'new'
      return `CREATE TRIGGER revision_${table}_${event.toLowerCase()} AFTER ${event} ON ${table} BEGIN ${raise(personaIn(row))} END;`
    })
    .join('\n')
}
