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
]
