import type { Migration } from './migration.ts'

/** Responses of the Responses API. Times are milliseconds since 1970, `bytes` the length of JSON. */
export const responseMigrations: readonly Migration[] = [
  {
    name: 'responses-1',
    up: `
      -- Processes that work on rows with their mark, see process-lease.ts.
      CREATE TABLE process_lease (
        mark text COLLATE "C" PRIMARY KEY,
        until timestamptz NOT NULL
      );
      -- Responses that continue each other: they are kept, and removed, together.
      CREATE TABLE response_thread (
        thread_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        user_id text COLLATE "C" NOT NULL,
        used_at bigint NOT NULL,
        responses integer NOT NULL,
        bytes bigint NOT NULL
      );
      CREATE INDEX response_thread_of_user ON response_thread (user_id, used_at, thread_id);
      CREATE INDEX response_thread_age ON response_thread (used_at);
      CREATE TABLE response (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        thread_id bigint NOT NULL REFERENCES response_thread (thread_id) ON DELETE CASCADE,
        id text COLLATE "C" NOT NULL UNIQUE,
        -- The API key that it was made with.
        key_id text COLLATE "C",
        previous text COLLATE "C",
        created_at bigint NOT NULL,
        -- The mark of the process that works on it; NULL for a finished one.
        process text COLLATE "C",
        items integer NOT NULL,
        bytes bigint NOT NULL,
        -- JSON, its output left empty.
        document text COLLATE "C" NOT NULL
      );
      CREATE INDEX response_of_thread ON response (thread_id, number);
      CREATE INDEX response_unfinished ON response (process) WHERE process IS NOT NULL;
      CREATE TABLE response_item (
        number bigint NOT NULL REFERENCES response (number) ON DELETE CASCADE,
        -- Input from 0 on, output from 1,000,000 on.
        position integer NOT NULL,
        -- The SHA-256 of an id, which may be longer than an index takes.
        id_digest bytea,
        item text COLLATE "C" NOT NULL,
        PRIMARY KEY (number, position)
      );
      CREATE INDEX response_item_id ON response_item (id_digest, number) WHERE id_digest IS NOT NULL;
      CREATE TABLE response_events (
        number bigint PRIMARY KEY REFERENCES response (number) ON DELETE CASCADE,
        events bytea NOT NULL
      );
    `,
  },
]
