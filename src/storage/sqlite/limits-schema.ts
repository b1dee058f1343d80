import type { Migration } from './migration.ts'

/** Limits, the accounts of their budgets, and reservations. Amounts are nano-USD, times milliseconds since 1970. */
export const limitMigrations: readonly Migration[] = [
  {
    name: 'limits-1',
    up: (db) =>
      db.exec(`
        -- A removed document is NULL, so that other processes see the removal.
        CREATE TABLE limit_document (
          subject TEXT PRIMARY KEY,
          document TEXT,
          revision INTEGER NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX limit_document_order ON limit_document (revision);
        CREATE TABLE limit_spend (
          id INTEGER PRIMARY KEY,
          subject TEXT NOT NULL,
          period TEXT NOT NULL,
          zone TEXT NOT NULL,
          start INTEGER NOT NULL,
          "end" INTEGER NOT NULL,
          -- The days of the ledger that are the period, such as 20261101; NULL where its days are of another zone.
          first_day INTEGER,
          last_day INTEGER,
          -- The costs of the ledger's rows of the period, and of beyond.
          spent INTEGER NOT NULL,
          -- The part of it without a row in the period: of attempts while the clock was set back, and of answers that were
          -- left and are billed to their end.
          beyond INTEGER NOT NULL DEFAULT 0,
          reserved INTEGER NOT NULL DEFAULT 0,
          -- What was spent at the last reset.
          cleared INTEGER NOT NULL DEFAULT 0,
          -- The limit whose warning was given.
          warned INTEGER,
          UNIQUE (subject, period, zone, start)
        ) STRICT;
        CREATE INDEX limit_spend_order ON limit_spend (subject, "end");
        CREATE TABLE limit_reservation (
          id TEXT PRIMARY KEY,
          process TEXT NOT NULL,
          at INTEGER NOT NULL,
          nano INTEGER NOT NULL,
          user TEXT NOT NULL,
          key TEXT,
          plugin TEXT,
          model TEXT NOT NULL,
          input INTEGER NOT NULL,
          output INTEGER NOT NULL,
          -- JSON: [id of limit_spend, 1 for a hard budget, else 0] each.
          shares TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE limit_window (
          subject TEXT NOT NULL,
          name TEXT NOT NULL,
          slots TEXT NOT NULL,
          PRIMARY KEY (subject, name)
        ) STRICT, WITHOUT ROWID;
      `),
  },
]
