import type { Migration } from './migration.ts'

/** Accounts, their logins, and the audit table. Times are milliseconds since 1970. */
export const accountMigrations: readonly Migration[] = [
  {
    name: 'accounts-1',
    up: `
      CREATE TABLE account (
        id text COLLATE "C" PRIMARY KEY,
        number bigint GENERATED ALWAYS AS IDENTITY,
        username text COLLATE "C" NOT NULL,
        -- Case-folded forms: what must be unique is what a reader takes for the same name.
        username_key text COLLATE "C" NOT NULL UNIQUE,
        -- The look of a name in any script.
        username_look text COLLATE "C" NOT NULL,
        email text COLLATE "C",
        email_key text COLLATE "C" UNIQUE,
        password_hash text COLLATE "C" NOT NULL,
        role text COLLATE "C" NOT NULL CHECK (role IN ('admin', 'user')),
        must_change_password boolean NOT NULL,
        token_version integer NOT NULL DEFAULT 0,
        created_at bigint NOT NULL,
        updated_at bigint NOT NULL
      );
      CREATE INDEX account_order ON account (created_at, id);
      CREATE INDEX account_look ON account (username_look);
      CREATE TABLE login_session (
        id text COLLATE "C" PRIMARY KEY,
        user_id text COLLATE "C" NOT NULL REFERENCES account (id) ON DELETE CASCADE,
        created_at bigint NOT NULL,
        expires_at bigint NOT NULL
      );
      CREATE INDEX login_session_of_user ON login_session (user_id);
      CREATE INDEX login_session_expiry ON login_session (expires_at);
      CREATE TABLE audit (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        at bigint NOT NULL,
        action text COLLATE "C" NOT NULL,
        actor text COLLATE "C",
        target text COLLATE "C",
        address text COLLATE "C",
        outcome text COLLATE "C" NOT NULL
      );
    `,
  },
  {
    name: 'accounts-2',
    up: `
      -- The names then: an id tells nobody who a removed user was.
      ALTER TABLE audit ADD COLUMN actor_name text COLLATE "C", ADD COLUMN target_name text COLLATE "C";
      CREATE INDEX audit_time ON audit (at, id);
      CREATE INDEX audit_actor ON audit (actor, at, id);
      CREATE INDEX audit_action ON audit (action, at, id);
    `,
  },
]
