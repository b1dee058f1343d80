import { lookOf } from '../../accounts/look-alikes.ts'
import type { Migration } from './migration.ts'

/** Users, their logins, and the audit table. */
export const accountMigrations: readonly Migration[] = [
  {
    name: 'accounts-1',
    up: (db) =>
      db.exec(`
        CREATE TABLE user (
          id TEXT PRIMARY KEY,
          username TEXT NOT NULL,
          -- Case-folded forms: what must be unique is what a reader takes for the same name.
          username_key TEXT NOT NULL UNIQUE,
          email TEXT,
          email_key TEXT UNIQUE,
          password_hash TEXT NOT NULL,
          role TEXT NOT NULL CHECK (role IN ('admin', 'user')),
          must_change_password INTEGER NOT NULL CHECK (must_change_password IN (0, 1)),
          token_version INTEGER NOT NULL DEFAULT 0,
          created_at INTEGER NOT NULL,
          updated_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX user_order ON user (created_at, id);
        CREATE TABLE login_session (
          id TEXT PRIMARY KEY,
          user_id TEXT NOT NULL REFERENCES user (id) ON DELETE CASCADE,
          created_at INTEGER NOT NULL,
          expires_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX login_session_of_user ON login_session (user_id);
        CREATE INDEX login_session_expiry ON login_session (expires_at);
        CREATE TABLE audit (
          id INTEGER PRIMARY KEY,
          at INTEGER NOT NULL,
          action TEXT NOT NULL,
          actor TEXT,
          target TEXT,
          address TEXT,
          outcome TEXT NOT NULL
        ) STRICT;
        -- The newest 100,000 entries are kept: failed logins must not fill a disk.
        CREATE TRIGGER audit_bound AFTER INSERT ON audit BEGIN
          DELETE FROM audit WHERE id <= new.id - 100000;
        END;
      `),
  },
  {
    name: 'accounts-2',
    up(db) {
      // The look of a name in any script. Not unique: accounts from before this that look alike go on working.
      db.exec(`ALTER TABLE user ADD COLUMN username_look TEXT NOT NULL DEFAULT ''`)
      const write = db.prepare<[string, string]>('UPDATE user SET username_look = ? WHERE id = ?')
      const users = db.prepare<[], { id: string; username: string }>('SELECT id, username FROM user').all()
      for (const { id, username } of users) write.run(lookOf(username), id)
      db.exec('CREATE INDEX user_look ON user (username_look)')
    },
  },
  {
    name: 'accounts-3',
    up: (db) =>
      db.exec(`
        -- The names then: an id tells nobody who a removed user was.
        ALTER TABLE audit ADD COLUMN actor_name TEXT;
        ALTER TABLE audit ADD COLUMN target_name TEXT;
        CREATE INDEX audit_time ON audit (at);
        CREATE INDEX audit_actor ON audit (actor, at);
        CREATE INDEX audit_action ON audit (action, at);
      `),
  },
]
