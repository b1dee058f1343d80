import type { Migration } from './migration.ts'

/** Prices of models, the operator's and refreshed ones, with a count of their changes for caches. */
export const priceMigrations: readonly Migration[] = [
  {
    name: 'prices-1',
    up: (db) =>
      db.exec(`
        CREATE TABLE price (
          -- Usage rows name the number of their price: it is never used again.
          number INTEGER PRIMARY KEY AUTOINCREMENT,
          source TEXT NOT NULL CHECK (source IN ('operator', 'refreshed')),
          plugin TEXT NOT NULL,
          model TEXT NOT NULL,
          -- Milliseconds since 1970; 0 for a price that always held.
          valid_from INTEGER NOT NULL,
          -- Rates in 10^-12 USD per token, other names, tiers: JSON.
          terms TEXT NOT NULL,
          origin TEXT NOT NULL,
          set_at INTEGER NOT NULL,
          ended_at INTEGER
        ) STRICT;
        CREATE UNIQUE INDEX price_that_holds ON price (source, plugin, model, valid_from) WHERE ended_at IS NULL;
        CREATE TABLE price_changes (number INTEGER NOT NULL) STRICT;
        INSERT INTO price_changes VALUES (0);
      `),
  },
]
