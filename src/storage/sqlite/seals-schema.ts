import type { Migration } from './migration.ts'

/**
 * Evidence of this program's own writes, against which an edit by another program shows: see seals.ts. No table here refers
 * to the sealed one, so that a row which another program removes leaves its seal.
 */
export const sealMigrations: readonly Migration[] = [
  {
    name: 'seals-1',
    up: (db) =>
      db.exec(`
        -- The key that all seals were made with, by its digest, and since when.
        CREATE TABLE seal_key (
          key_id TEXT PRIMARY KEY,
          since INTEGER NOT NULL,
          sealed BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE persona_seal (
          persona_id TEXT PRIMARY KEY,
          scope_id INTEGER,
          persona BLOB NOT NULL,
          state BLOB,
          sealed BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE memory_scope_seal (
          scope_id INTEGER PRIMARY KEY,
          memories INTEGER NOT NULL,
          sealed BLOB NOT NULL
        ) STRICT;
        CREATE TABLE memory_seal (
          memory_id INTEGER PRIMARY KEY,
          id TEXT NOT NULL,
          sealed BLOB NOT NULL,
          vector BLOB
        ) STRICT;
      `),
  },
]
