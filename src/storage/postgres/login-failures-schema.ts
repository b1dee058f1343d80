import type { Migration } from './migration.ts'

/** Failed logins that count, and the subjects that are refused. Times are milliseconds since 1970 by the server's clock. */
export const loginFailureMigrations: readonly Migration[] = [
  {
    name: 'login-failures-1',
    up: `
      CREATE TABLE login_failure (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        subject text COLLATE "C" NOT NULL,
        -- A digest.
        user_digest text COLLATE "C" NOT NULL,
        at bigint NOT NULL
      );
      CREATE INDEX login_failure_of_subject ON login_failure (subject, at);
      CREATE INDEX login_failure_age ON login_failure (at);
      CREATE TABLE login_refusal (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        subject text COLLATE "C" NOT NULL UNIQUE,
        until bigint NOT NULL
      );
      CREATE INDEX login_refusal_age ON login_refusal (until);
    `,
  },
]
