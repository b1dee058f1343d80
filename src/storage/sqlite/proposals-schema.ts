import type { Migration } from './migration.ts'

/** Proposals go with the memory that they are taken from, and so with its persona and its user; its number tells their scope. */
export const proposalMigrations: readonly Migration[] = [
  {
    name: 'proposals-1',
    up: (db) =>
      db.exec(`
        CREATE TABLE memory_proposal (
          number INTEGER PRIMARY KEY,
          id TEXT NOT NULL UNIQUE,
          memory_id INTEGER NOT NULL REFERENCES memory (memory_id) ON DELETE CASCADE,
          content TEXT NOT NULL,
          folded TEXT NOT NULL,
          confidence REAL NOT NULL,
          model TEXT NOT NULL,
          created_at INTEGER NOT NULL,
          status TEXT NOT NULL CHECK (status IN ('open', 'claimed', 'accepted', 'rejected')),
          claimed_at INTEGER,
          accepted_as TEXT
        ) STRICT;
        CREATE INDEX memory_proposal_source ON memory_proposal (memory_id);
      `),
  },
]
