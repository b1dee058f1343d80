import type { Migration } from './migration.ts'

/** API keys and their secrets. A key stays when its owner goes: usage names it. */
export const keyMigrations: readonly Migration[] = [
  {
    name: 'keys-1',
    up: (db) =>
      db.exec(`
        CREATE TABLE api_key (
          id TEXT PRIMARY KEY,
          user_id TEXT NOT NULL,
          name TEXT NOT NULL,
          -- JSON lists; NULL allows all.
          scopes TEXT NOT NULL,
          models TEXT,
          plugins TEXT,
          personas TEXT,
          created_at INTEGER NOT NULL,
          updated_at INTEGER NOT NULL,
          expires_at INTEGER,
          revoked_at INTEGER,
          last_used_at INTEGER
        ) STRICT;
        CREATE INDEX api_key_order ON api_key (created_at, id);
        CREATE INDEX api_key_of_user ON api_key (user_id, created_at, id);
        CREATE TABLE api_key_secret (
          -- SHA-256 in base64url; the text is kept nowhere.
          digest TEXT PRIMARY KEY,
          key_id TEXT NOT NULL REFERENCES api_key (id) ON DELETE CASCADE,
          last4 TEXT NOT NULL,
          created_at INTEGER NOT NULL,
          -- NULL for the current secret.
          valid_until INTEGER,
          last_used_at INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX api_key_secret_of_key ON api_key_secret (key_id);
      `),
  },
]
