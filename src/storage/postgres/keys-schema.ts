import type { Migration } from './migration.ts'

/** API keys and their secrets. A key stays when its owner goes: usage names it. Times are milliseconds since 1970. */
export const keyMigrations: readonly Migration[] = [
  {
    name: 'keys-1',
    up: `
      CREATE TABLE api_key (
        id text COLLATE "C" PRIMARY KEY,
        user_id text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL,
        -- JSON lists; NULL allows all.
        scopes text COLLATE "C" NOT NULL,
        models text COLLATE "C",
        plugins text COLLATE "C",
        personas text COLLATE "C",
        created_at bigint NOT NULL,
        updated_at bigint NOT NULL,
        expires_at bigint,
        revoked_at bigint,
        last_used_at bigint
      );
      CREATE INDEX api_key_order ON api_key (created_at, id);
      CREATE INDEX api_key_of_user ON api_key (user_id, created_at, id);
      CREATE TABLE api_key_secret (
        -- SHA-256 in base64url; the text is kept nowhere.
        digest text COLLATE "C" PRIMARY KEY,
        key_id text COLLATE "C" NOT NULL REFERENCES api_key (id) ON DELETE CASCADE,
        last4 text COLLATE "C" NOT NULL,
        created_at bigint NOT NULL,
        -- NULL for the current secret.
        valid_until bigint,
        last_used_at bigint
      );
      CREATE INDEX api_key_secret_of_key ON api_key_secret (key_id);
    `,
  },
]
