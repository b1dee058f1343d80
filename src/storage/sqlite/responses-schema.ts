import type { Migration } from './migration.ts'

/** Responses of the Responses API. Times are milliseconds since 1970, `bytes` the length of JSON. */
export const responseMigrations: readonly Migration[] = [
  {
    name: 'responses-1',
    up: (db) =>
      db.exec(`
        -- Responses that continue each other: they are kept, and removed, together.
        CREATE TABLE response_thread (
          thread_id INTEGER PRIMARY KEY,
          user_id TEXT NOT NULL,
          used_at INTEGER NOT NULL,
          responses INTEGER NOT NULL,
          bytes INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX response_thread_of_user ON response_thread (user_id, used_at, thread_id);
        CREATE INDEX response_thread_age ON response_thread (used_at);
        CREATE TABLE response (
          number INTEGER PRIMARY KEY,
          thread_id INTEGER NOT NULL REFERENCES response_thread (thread_id) ON DELETE CASCADE,
          id TEXT NOT NULL UNIQUE,
          -- The API key that it was made with.
          key_id TEXT,
          previous TEXT,
          created_at INTEGER NOT NULL,
          -- The process that works on it; NULL for a finished one.
          process TEXT,
          items INTEGER NOT NULL,
          bytes INTEGER NOT NULL,
          -- JSON, its output left empty.
          document TEXT NOT NULL
        ) STRICT;
        CREATE INDEX response_of_thread ON response (thread_id);
        CREATE INDEX response_unfinished ON response (process) WHERE process IS NOT NULL;
        CREATE TABLE response_item (
          number INTEGER NOT NULL REFERENCES response (number) ON DELETE CASCADE,
          -- Input from 0 on, output from 1,000,000 on.
          position INTEGER NOT NULL,
          id TEXT,
          item TEXT NOT NULL,
          PRIMARY KEY (number, position)
        ) STRICT;
        CREATE INDEX response_item_id ON response_item (id, number);
        CREATE TABLE response_events (
          number INTEGER PRIMARY KEY REFERENCES response (number) ON DELETE CASCADE,
          events BLOB NOT NULL
        ) STRICT;
      `),
  },
]
