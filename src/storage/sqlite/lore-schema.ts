import type { Migration } from './migration.ts'

/** A memory with keys, which comes into prompts by them: see personas/memory/lore.ts. */
const isLoreRow = "json_type(metadata, '$.keys') = 'array'"

/** As a condition of a trigger. */
const isLore = (row: 'old' | 'new') => `json_type(${row}.metadata, '$.keys') = 'array'`

/**
 * Counts the changes of a scope's lore by time, in milliseconds, so that no number comes twice, also not for a scope that
 * was removed and made again under the same number.
 */
const count = (row: 'old' | 'new') =>
  `UPDATE memory_scope SET lore = max(lore + 1, CAST(unixepoch('subsec') * 1000 AS INTEGER))
     WHERE scope_id = ${row}.scope_id;`

/** Adds the count of lore's changes: read lore stays cached while it is the same, also when another program writes. */
export const loreMigrations: readonly Migration[] = [
  {
    name: 'lore-1',
    up: (db) =>
      db.exec(`
        ALTER TABLE memory_scope ADD COLUMN lore INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX memory_lore ON memory (scope_id, memory_id) WHERE ${isLoreRow};
        CREATE TRIGGER lore_added AFTER INSERT ON memory WHEN ${isLore('new')} BEGIN ${count('new')} END;
        CREATE TRIGGER lore_removed AFTER DELETE ON memory WHEN ${isLore('old')} BEGIN ${count('old')} END;
        CREATE TRIGGER lore_changed AFTER UPDATE OF content, metadata ON memory
          WHEN ${isLore('old')} OR ${isLore('new')} BEGIN ${count('new')} END;
        UPDATE memory_scope SET lore = 1 WHERE scope_id IN (SELECT scope_id FROM memory WHERE ${isLoreRow});
      `),
  },
]
