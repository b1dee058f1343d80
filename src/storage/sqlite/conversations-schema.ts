import { indexAll } from './conversations-text.ts'
import type { Migration } from './migration.ts'

/** Later changes of the conversations' schema; its first version stands with the personas'. */
export const conversationMigrations: readonly Migration[] = [
  {
    name: 'conversations-2',
    up: (db) =>
      db.exec(`
        ALTER TABLE conversation ADD COLUMN summary TEXT;
        ALTER TABLE conversation ADD COLUMN ended_at INTEGER;
        CREATE INDEX conversation_unended ON conversation (user_id, updated_at) WHERE ended_at IS NULL;
      `),
  },
  {
    name: 'conversations-3',
    // Nano-USD; NULL where no cost is known.
    up: (db) => db.exec('ALTER TABLE conversation_message ADD COLUMN cost INTEGER'),
  },
  {
    name: 'conversations-4',
    // An AnswerRecord as JSON; NULL where nothing is known.
    up: (db) => db.exec('ALTER TABLE conversation_message ADD COLUMN answer TEXT'),
  },
  {
    name: 'conversations-5',
    // `kept` is 1 for a single question without a name of its own, of which only the newest are kept. The index holds its own
    // text, since a removed message must leave it at once, as in memory_text: a term is any run of letters, digits and
    // characters beyond ASCII.
    up: (db) => {
      db.exec(`
        ALTER TABLE conversation ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX conversation_kept ON conversation (user_id, updated_at) WHERE kept = 1;
        CREATE TABLE conversation_reader (reader INTEGER PRIMARY KEY, user_id TEXT NOT NULL) STRICT;
        CREATE INDEX conversation_reader_user ON conversation_reader (user_id);
        ALTER TABLE conversation_message ADD COLUMN text_id INTEGER;
        CREATE UNIQUE INDEX conversation_message_text ON conversation_message (text_id) WHERE text_id IS NOT NULL;
        CREATE VIRTUAL TABLE conversation_text USING fts5 (reader, terms, tokenize = 'ascii', prefix = '1 2 3');
        INSERT INTO conversation_text (conversation_text, rank) VALUES ('secure-delete', 1);
        CREATE TRIGGER conversation_text_removed AFTER DELETE ON conversation_message WHEN old.text_id IS NOT NULL
          BEGIN DELETE FROM conversation_text WHERE rowid = old.text_id; END;
      `)
      indexAll(db)
    },
  },
]
