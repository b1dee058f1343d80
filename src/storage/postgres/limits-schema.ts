import type { Migration } from './migration.ts'

/** Limits, the accounts of their budgets, and reservations. Amounts are nano-USD, times milliseconds since 1970. */
export const limitMigrations: readonly Migration[] = [
  {
    name: 'limits-1',
    up: `
      -- A removed document is NULL, so that other processes see the removal.
      CREATE TABLE limit_document (
        subject text COLLATE "C" PRIMARY KEY,
        document text COLLATE "C",
        revision bigint NOT NULL UNIQUE
      );
      CREATE TABLE limit_spend (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        subject text COLLATE "C" NOT NULL,
        period text COLLATE "C" NOT NULL,
        zone text COLLATE "C" NOT NULL,
        start bigint NOT NULL,
        "end" bigint NOT NULL,
        -- The days of the ledger that are the period, such as 20261101; NULL where its days are of another zone.
        first_day integer,
        last_day integer,
        -- The costs of the ledger's rows of the period, and of beyond.
        spent bigint NOT NULL,
        -- The part of it without a row in the period: of attempts while the clock was set back, and of answers that were
        -- left and are billed to their end.
        beyond bigint NOT NULL DEFAULT 0,
        reserved bigint NOT NULL DEFAULT 0,
        -- What was spent at the last reset.
        cleared bigint NOT NULL DEFAULT 0,
        -- The limit whose warning was given.
        warned bigint,
        UNIQUE (subject, period, zone, start)
      ) WITH (fillfactor = 50);
      CREATE TABLE limit_reservation (
        id text COLLATE "C" PRIMARY KEY,
        process text COLLATE "C" NOT NULL,
        at bigint NOT NULL,
        nano bigint NOT NULL,
        "user" text COLLATE "C" NOT NULL,
        key text COLLATE "C",
        plugin text COLLATE "C",
        model text COLLATE "C" NOT NULL,
        input bigint NOT NULL,
        output bigint NOT NULL,
        -- JSON: [id of limit_spend, 1 for a hard budget, else 0] each.
        shares text COLLATE "C" NOT NULL
      );
      CREATE TABLE limit_window (
        subject text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL,
        slots text COLLATE "C" NOT NULL,
        PRIMARY KEY (subject, name)
      );
    `,
  },
]
