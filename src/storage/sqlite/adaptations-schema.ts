import type { Migration } from './migration.ts'

/** Learned states, passthrough fields and backups of personas; all of it goes with its persona. */
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
  {
    name: 'adaptations-2',
    up: (db) =>
      // A log has a number of its own, so that a long one that was written apart becomes its persona's by one change.
      db.exec(`
        CREATE TABLE adaptation_log (
          log_id INTEGER PRIMARY KEY,
          persona_id TEXT NOT NULL REFERENCES persona (id) ON DELETE CASCADE
        ) STRICT;
        CREATE INDEX adaptation_log_of_persona ON adaptation_log (persona_id);
        INSERT INTO adaptation_log (persona_id) SELECT DISTINCT persona_id FROM adaptation;
        CREATE TABLE adaptation_record (
          log_id INTEGER NOT NULL REFERENCES adaptation_log (log_id) ON DELETE CASCADE,
          sequence INTEGER NOT NULL,
          id TEXT NOT NULL,
          idempotency_key TEXT,
          record TEXT NOT NULL,
          PRIMARY KEY (log_id, sequence),
          UNIQUE (log_id, id),
          UNIQUE (log_id, idempotency_key)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO adaptation_record (log_id, sequence, id, idempotency_key, record)
          SELECT log_id, sequence, id, idempotency_key, record FROM adaptation JOIN adaptation_log USING (persona_id)
           ORDER BY log_id, sequence;
        DROP TABLE adaptation;
        ALTER TABLE adaptation_record RENAME TO adaptation;
      `),
  },
]
