import { sketchOf, valuesOf } from '../shared/vector-bytes.ts'
import type { Database } from './connection.ts'
import type { Migration } from './migration.ts'

/** Personas, their memories, and saved conversations. */
export const personaMigrations: readonly Migration[] = [
  {
    name: 'personas-1',
    up: (db) =>
      db.exec(`
        CREATE TABLE persona (
          id TEXT PRIMARY KEY,
          user_id TEXT NOT NULL,
          name TEXT NOT NULL,
          model TEXT NOT NULL,
          description TEXT,
          system_prompt TEXT,
          parameters TEXT NOT NULL,
          embedding_model TEXT,
          memory_settings TEXT,
          mutation_settings TEXT,
          extra TEXT,
          created_at INTEGER NOT NULL,
          updated_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX persona_of_user ON persona (user_id, created_at);
      `),
  },
  {
    name: 'memories-1',
    up: (db) => {
      // A memory's number is scope_id · 2^24 + a count, so that a scope is one range of every index, the full-text index
      // among them: no statement can reach beyond its scope, and the cost of a search depends on its own scope.
      db.exec(`
        CREATE TABLE memory_scope (
          scope_id INTEGER PRIMARY KEY,
          persona_id TEXT NOT NULL REFERENCES persona (id) ON DELETE CASCADE,
          user_id TEXT NOT NULL,
          last_number INTEGER NOT NULL DEFAULT 0,
          memories INTEGER NOT NULL DEFAULT 0,
          length INTEGER NOT NULL DEFAULT 0,
          UNIQUE (persona_id, user_id)
        ) STRICT;
        CREATE TABLE memory (
          memory_id INTEGER PRIMARY KEY,
          scope_id INTEGER NOT NULL REFERENCES memory_scope (scope_id) ON DELETE CASCADE,
          id TEXT NOT NULL,
          content TEXT NOT NULL,
          digest BLOB NOT NULL,
          timestamp INTEGER NOT NULL,
          importance REAL NOT NULL CHECK (importance BETWEEN 0 AND 1),
          category TEXT NOT NULL,
          pinned INTEGER NOT NULL,
          conversation TEXT NOT NULL,
          metadata TEXT NOT NULL,
          UNIQUE (scope_id, id)
        ) STRICT;
        CREATE INDEX memory_digest ON memory (scope_id, digest);
        CREATE INDEX memory_time ON memory (scope_id, timestamp);
        CREATE INDEX memory_order ON memory (scope_id, conversation, timestamp, memory_id);
        CREATE TABLE embedding_space (
          space_id INTEGER PRIMARY KEY,
          key TEXT NOT NULL UNIQUE,
          model TEXT NOT NULL,
          dimension INTEGER NOT NULL
        ) STRICT;
      `)
      // Unit vectors as float32 in an ordinary table, and not in sqlite-vec's vec0. For the thousand vectors of a scope an
      // exact scan is as fast, every dimension fits into one table, and three traps are out of reach: vec0 allocates
      // chunk_size vectors (1,024 by default) per partition, 6 MB for a scope of one memory at 1,536 dimensions; its
      // default metric is L2; and an ORDER BY over a distance function, which here is right, there scans everything.
      db.exec(`
        CREATE TABLE memory_vector (
          memory_id INTEGER PRIMARY KEY REFERENCES memory (memory_id) ON DELETE CASCADE,
          space_id INTEGER NOT NULL REFERENCES embedding_space (space_id),
          vector BLOB NOT NULL
        ) STRICT;
        CREATE INDEX memory_vector_space ON memory_vector (space_id, memory_id);
        CREATE TABLE memory_eviction (
          eviction_id INTEGER PRIMARY KEY,
          scope_id INTEGER NOT NULL REFERENCES memory_scope (scope_id) ON DELETE CASCADE,
          id TEXT NOT NULL,
          reason TEXT NOT NULL,
          timestamp INTEGER NOT NULL,
          importance REAL NOT NULL,
          evicted_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX memory_eviction_scope ON memory_eviction (scope_id, eviction_id);
      `)
      // The index holds the terms that ranking-terms.ts makes, so the tokenizer only has to part them again. For the
      // one named ascii every character beyond ASCII belongs to a term, in any version of Unicode.
      // secure-delete takes removed terms out of the index at once.
      db.exec(`
        CREATE VIRTUAL TABLE memory_text USING fts5 (
          content, about, context,
          tokenize = 'ascii',
          detail = column
        );
        INSERT INTO memory_text (memory_text, rank) VALUES ('secure-delete', 1);
      `)
    },
  },
  {
    name: 'conversations-1',
    up: (db) =>
      db.exec(`
        CREATE TABLE conversation (
          id TEXT PRIMARY KEY,
          user_id TEXT NOT NULL,
          name TEXT NOT NULL,
          persona_id TEXT,
          created_at INTEGER NOT NULL,
          updated_at INTEGER NOT NULL,
          UNIQUE (user_id, name)
        ) STRICT;
        CREATE INDEX conversation_of_user ON conversation (user_id, updated_at);
        CREATE TABLE conversation_message (
          conversation_id TEXT NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
          number INTEGER NOT NULL,
          message TEXT NOT NULL,
          timestamp INTEGER NOT NULL,
          PRIMARY KEY (conversation_id, number)
        ) STRICT, WITHOUT ROWID;
      `),
  },
  {
    name: 'memories-2',
    up: (db) => {
      // The terms move out of the full-text index, which reads them through a view that puts the scope's number before
      // each: every scope has posting lists of its own. A search then touches no others, whereas stepping over those
      // of 2,000 other scopes took four milliseconds, and no statement can match beyond its scope even by mistake. The
      // dot in the middle ends the number, since no term holds one.
      db.exec(`
        CREATE TABLE memory_terms (
          memory_id INTEGER PRIMARY KEY REFERENCES memory (memory_id) ON DELETE CASCADE,
          terms TEXT NOT NULL,
          about TEXT NOT NULL,
          context TEXT NOT NULL
        ) STRICT;
        INSERT INTO memory_terms SELECT rowid, content, about, context FROM memory_text;
        DROP TABLE memory_text;
        CREATE VIEW memory_indexed AS
          SELECT memory_id, mark || replace(terms, ' ', ' ' || mark) AS content,
            mark || replace(about, ' ', ' ' || mark) AS about, replace(context, ' ', ' ' || mark) AS context
          FROM (SELECT *, (memory_id >> 24) || '·' AS mark FROM memory_terms);
        CREATE VIRTUAL TABLE memory_text USING fts5 (
          content, about, context,
          content = 'memory_indexed',
          content_rowid = 'memory_id',
          tokenize = 'ascii',
          detail = column
        );
        INSERT INTO memory_text (memory_text, rank) VALUES ('secure-delete', 1);
        INSERT INTO memory_text (rowid, content, about, context)
          SELECT memory_id, content, about, context FROM memory_indexed ORDER BY memory_id;
      `)
      // One bit for each of a vector's components, its sign: the scan that chooses which vectors are compared exactly reads
      // a thirtieth of the bytes.
      db.exec(`
        CREATE TABLE memory_sketch (
          memory_id INTEGER PRIMARY KEY REFERENCES memory_vector (memory_id) ON DELETE CASCADE,
          space_id INTEGER NOT NULL,
          bits BLOB NOT NULL
        ) STRICT;
      `)
      addSketches(db)
    },
  },
]

/** Some at a time, since no statement may write while another reads, and all vectors together may not fit into memory. */
function addSketches(db: Database): void {
  const next = db.prepare<[number], { memory_id: number; space_id: number; vector: Buffer }>(
    'SELECT memory_id, space_id, vector FROM memory_vector WHERE memory_id > ? ORDER BY memory_id LIMIT 500',
  )
  const put = db.prepare('INSERT INTO memory_sketch (memory_id, space_id, bits) VALUES (?, ?, ?)')
  for (let rows = next.all(0); rows.length > 0; rows = next.all(rows.at(-1)!.memory_id))
    for (const { memory_id, space_id, vector } of rows) put.run(memory_id, space_id, sketchOf(valuesOf(vector)))
}
