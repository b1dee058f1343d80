import type { Migration } from './migration.ts'

/** What personas have learned, what came with them, and their backups; all of it goes with its persona. */
export const adaptationMigrations: readonly Migration[] = [
  {
    name: 'adaptations-1',
    up: (db) =>
      db.exec(`
        CREATE TABLE adaptation (
          persona_id TEXT NOT NULL REFERENCES persona (id) ON DELETE CASCADE,
          sequence INTEGER NOT NULL,
          id TEXT NOT NULL,
          idempotency_key TEXT,
          record TEXT NOT NULL,
          PRIMARY KEY (persona_id, sequence),
          UNIQUE (persona_id, id),
          UNIQUE (persona_id, idempotency_key)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE persona_state (
          persona_id TEXT PRIMARY KEY REFERENCES persona (id) ON DELETE CASCADE,
          algorithm TEXT NOT NULL,
          sequence INTEGER NOT NULL,
          hash TEXT NOT NULL,
          learned TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
      `),
  },
  {
    name: 'packages-1',
    up: (db) =>
      db.exec(`
        CREATE TABLE persona_carried (
          persona_id TEXT PRIMARY KEY REFERENCES persona (id) ON DELETE CASCADE,
          fields TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE memory_carried (
          memory_id INTEGER PRIMARY KEY REFERENCES memory (memory_id) ON DELETE CASCADE,
          fields TEXT NOT NULL
        ) STRICT;
        CREATE TABLE persona_backup (
          number INTEGER PRIMARY KEY,
          id TEXT NOT NULL UNIQUE,
          persona_id TEXT NOT NULL REFERENCES persona (id) ON DELETE CASCADE,
          created_at INTEGER NOT NULL,
          reason TEXT NOT NULL,
          checksum TEXT NOT NULL,
          content_hash TEXT NOT NULL,
          bytes INTEGER NOT NULL,
          memories INTEGER NOT NULL,
          adaptations INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX persona_backup_order ON persona_backup (persona_id, number);
      `),
  },
]
