import type { Migration } from './migration.ts'

/** Failed logins that count, and the subjects that are refused. Times are milliseconds since the start of the machine. */
export const loginFailureMigrations: readonly Migration[] = [
  {
    name: 'login-failures-1',
    up: (db) =>
      db.exec(`
        CREATE TABLE login_failure (
          id INTEGER PRIMARY KEY,
          subject TEXT NOT NULL,
          user TEXT NOT NULL,
          boot TEXT NOT NULL,
          at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX login_failure_of_subject ON login_failure (subject, boot, at);
        CREATE INDEX login_failure_age ON login_failure (at);
        CREATE TABLE login_refusal (
          id INTEGER PRIMARY KEY,
          subject TEXT NOT NULL UNIQUE,
          boot TEXT NOT NULL,
          until INTEGER NOT NULL
        ) STRICT;
        -- The newest 50,000 of each are kept. A flood of fresh addresses pushes out none that is refused.
        CREATE TRIGGER login_failure_bound AFTER INSERT ON login_failure BEGIN
          DELETE FROM login_failure WHERE id <= new.id - 50000;
        END;
        CREATE TRIGGER login_refusal_bound AFTER INSERT ON login_refusal BEGIN
          DELETE FROM login_refusal WHERE id <= new.id - 50000;
        END;
      `),
  },
]
