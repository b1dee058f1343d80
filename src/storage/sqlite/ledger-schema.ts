import type { Migration } from './migration.ts'

/** The ledger of attempts, and their sums by day. A day is a number such as 20261122; names of any kind are numbered. */
export const ledgerMigrations: readonly Migration[] = [
  {
    name: 'ledger-1',
    up: (db) =>
      db.exec(`
        CREATE TABLE ledger_name (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE ledger (
          request TEXT NOT NULL,
          attempt INTEGER NOT NULL,
          at INTEGER NOT NULL,
          day INTEGER NOT NULL,
          user INTEGER NOT NULL,
          api_key INTEGER,
          plugin INTEGER,
          model INTEGER NOT NULL,
          purpose INTEGER NOT NULL,
          outcome INTEGER NOT NULL,
          estimated INTEGER NOT NULL,
          lower_bound INTEGER NOT NULL,
          input INTEGER NOT NULL,
          cached INTEGER,
          cache_write INTEGER,
          cache_write_long INTEGER,
          output INTEGER NOT NULL,
          reasoning INTEGER,
          audio_input INTEGER,
          audio_output INTEGER,
          characters INTEGER,
          service_tier INTEGER,
          speed INTEGER,
          -- Nano-USD; NULL where no price is known.
          cost INTEGER,
          cost_source INTEGER,
          price INTEGER,
          duration_ms INTEGER NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX ledger_attempt ON ledger (request, attempt);
        CREATE INDEX ledger_time ON ledger (day, at);
        -- 0 stands for no key and for this machine: NULL would make a key of its own in each row.
        CREATE TABLE ledger_day (
          day INTEGER NOT NULL,
          user INTEGER NOT NULL,
          api_key INTEGER NOT NULL,
          plugin INTEGER NOT NULL,
          model INTEGER NOT NULL,
          requests INTEGER NOT NULL,
          failed INTEGER NOT NULL,
          input INTEGER NOT NULL,
          cached INTEGER NOT NULL,
          cache_write INTEGER NOT NULL,
          output INTEGER NOT NULL,
          reasoning INTEGER NOT NULL,
          characters INTEGER NOT NULL,
          cost INTEGER NOT NULL,
          unpriced INTEGER NOT NULL,
          estimated INTEGER NOT NULL,
          PRIMARY KEY (day, user, api_key, plugin, model)
        ) STRICT, WITHOUT ROWID;
        -- The first day whose rows are all there.
        CREATE TABLE ledger_begin (id INTEGER PRIMARY KEY CHECK (id = 1), day INTEGER NOT NULL) STRICT;
        INSERT INTO ledger_begin VALUES (1, 0);
      `),
  },
]
