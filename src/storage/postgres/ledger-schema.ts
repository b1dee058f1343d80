import type { Migration } from './migration.ts'

/** The ledger of attempts, and their sums by day. A day is a number such as 20261122; names of any kind are numbered. */
export const ledgerMigrations: readonly Migration[] = [
  {
    name: 'ledger-1',
    up: `
      CREATE TABLE ledger_name (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name text COLLATE "C" NOT NULL UNIQUE
      );
      CREATE TABLE ledger (
        request text COLLATE "C" NOT NULL,
        attempt integer NOT NULL,
        at bigint NOT NULL,
        day integer NOT NULL,
        "user" bigint NOT NULL,
        api_key bigint,
        plugin bigint,
        model bigint NOT NULL,
        purpose smallint NOT NULL,
        outcome smallint NOT NULL,
        estimated smallint NOT NULL,
        lower_bound smallint NOT NULL,
        input bigint NOT NULL,
        cached bigint,
        cache_write bigint,
        cache_write_long bigint,
        output bigint NOT NULL,
        reasoning bigint,
        audio_input bigint,
        audio_output bigint,
        characters bigint,
        service_tier bigint,
        speed bigint,
        -- Nano-USD; NULL where no price is known.
        cost bigint,
        cost_source smallint,
        price bigint,
        duration_ms bigint NOT NULL,
        id bigint GENERATED ALWAYS AS IDENTITY
      );
      CREATE UNIQUE INDEX ledger_attempt ON ledger (request, attempt);
      CREATE INDEX ledger_time ON ledger (day, at, id);
      -- 0 stands for no key and for this machine: NULL would make a key of its own in each row.
      CREATE TABLE ledger_day (
        day integer NOT NULL,
        "user" bigint NOT NULL,
        api_key bigint NOT NULL,
        plugin bigint NOT NULL,
        model bigint NOT NULL,
        requests bigint NOT NULL,
        failed bigint NOT NULL,
        input bigint NOT NULL,
        cached bigint NOT NULL,
        cache_write bigint NOT NULL,
        output bigint NOT NULL,
        reasoning bigint NOT NULL,
        characters bigint NOT NULL,
        cost bigint NOT NULL,
        unpriced bigint NOT NULL,
        estimated bigint NOT NULL,
        PRIMARY KEY (day, "user", api_key, plugin, model)
      ) WITH (fillfactor = 70);
      -- The first day whose rows are all there.
      CREATE TABLE ledger_begin (id integer PRIMARY KEY CHECK (id = 1), day integer NOT NULL);
      INSERT INTO ledger_begin VALUES (1, 0);
    `,
  },
]
