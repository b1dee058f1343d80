import type { Migration } from './migration.ts'

/** Saved conversations. Times are milliseconds since 1970, costs nano-USD. */
export const conversationMigrations: readonly Migration[] = [
  {
    name: 'conversations-1',
    up: `
      CREATE TABLE conversation (
        id text COLLATE "C" PRIMARY KEY,
        user_id text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL,
        persona_id text COLLATE "C",
        created_at bigint NOT NULL,
        updated_at bigint NOT NULL,
        summary text COLLATE "C",
        ended_at bigint,
        -- A single question without a name of its own, of which only the newest are kept.
        kept boolean NOT NULL DEFAULT false,
        -- Its messages have the numbers 1 to this.
        messages integer NOT NULL DEFAULT 0,
        UNIQUE (user_id, name)
      );
      CREATE INDEX conversation_of_user ON conversation (user_id, updated_at DESC, id);
      CREATE INDEX conversation_unended ON conversation (user_id, updated_at DESC) WHERE ended_at IS NULL;
      CREATE INDEX conversation_kept ON conversation (user_id, updated_at DESC, id) WHERE kept;
      CREATE INDEX conversation_of_persona ON conversation (persona_id) WHERE persona_id IS NOT NULL;
      CREATE TABLE conversation_message (
        conversation_id text COLLATE "C" NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
        number integer NOT NULL,
        -- In the order of saving, over all conversations.
        saved bigint GENERATED ALWAYS AS IDENTITY,
        role text COLLATE "C" NOT NULL,
        message text COLLATE "C" NOT NULL,
        timestamp bigint NOT NULL,
        cost bigint,
        -- An AnswerRecord as JSON; NULL where nothing is known.
        answer text COLLATE "C",
        -- The terms of a message that is searched: once each behind the mark of its reader, and all of them in order.
        indexed tsvector,
        terms text COLLATE "C",
        PRIMARY KEY (conversation_id, number)
      );
      CREATE INDEX conversation_message_text ON conversation_message USING gin (indexed) WHERE indexed IS NOT NULL;
      -- A number for each user, which stands before each indexed term: a search reads the postings of its own user alone.
      CREATE TABLE conversation_reader (
        reader integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        user_id text COLLATE "C" NOT NULL
      );
      CREATE INDEX conversation_reader_user ON conversation_reader (user_id);
      -- A conversation outlives its persona.
      CREATE FUNCTION forget_persona_of_conversations() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          UPDATE conversation SET persona_id = NULL WHERE persona_id = old.id;
          RETURN NULL;
        END $$;
      CREATE TRIGGER conversation_forgets_persona AFTER DELETE ON persona
        FOR EACH ROW EXECUTE FUNCTION forget_persona_of_conversations();
    `,
  },
]
