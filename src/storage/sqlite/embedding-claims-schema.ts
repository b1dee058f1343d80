import type { Migration } from './migration.ts'

/** Which process embeds a scope's memories, and in which space its vectors are kept. */
export const embeddingClaimMigrations: readonly Migration[] = [
  {
    name: 'embedding-claims-1',
    up: (db) =>
      db.exec(`
        CREATE TABLE embedding_lease (
          scope_id INTEGER PRIMARY KEY REFERENCES memory_scope (scope_id) ON DELETE CASCADE,
          holder TEXT NOT NULL,
          held_until INTEGER NOT NULL,
          model TEXT NOT NULL,
          space TEXT,
          kept_until INTEGER NOT NULL
        ) STRICT;
      `),
  },
]
