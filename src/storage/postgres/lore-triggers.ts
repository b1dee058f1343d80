/**
 * Counts the changes of a scope's lore by time, in milliseconds, so that no number comes twice, also not for a scope that was
 * removed and made again.
 */
export function loreTriggers(): string {
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
