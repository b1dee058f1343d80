import { isLoreInSqlite } from '../schema/memories.ts'

/** As a condition of a trigger. */
function isLore(row: 'old' | 'new'): string {
  return isLoreInSqlite.replace('metadata', `${row}.metadata`)
}

/**
 * Counts the changes of a scope's lore by time, in milliseconds, so that no number comes twice, also not for a scope that
 * was removed and made again under the same number.
 */
function count(row: 'old' | 'new'): string {
  return `UPDATE memory_scope SET lore = max(lore + 1, CAST(unixepoch('subsec') * 1000 AS INTEGER))
     WHERE scope_id = ${row}.scope_id;`
}

/** The triggers of that count: lore that was read stays cached while it is the same, also when another program writes. */
export const loreTriggers = `
  CREATE TRIGGER lore_added AFTER INSERT ON memory WHEN ${isLore('new')} BEGIN ${count('new')} END;
  CREATE TRIGGER lore_removed AFTER DELETE ON memory WHEN ${isLore('old')} BEGIN ${count('old')} END;
  CREATE TRIGGER lore_changed AFTER UPDATE OF content, metadata ON memory
    WHEN ${isLore('old')} OR ${isLore('new')} BEGIN ${count('new')} END;`

/** Begins to count in a database that did not before. */
export const countLore = `
  UPDATE memory_scope SET lore = 1 WHERE scope_id IN (SELECT scope_id FROM memory WHERE ${isLoreInSqlite});`
