import type { Migration } from './migration.ts'
import { bytesOfColumns, countedForUser } from './usage-schema.ts'

/** Personas, and the counters of their owners' stored data and changes. */
export const personaMigrations: readonly Migration[] = [
  {
    name: 'personas-1',
    up: `
      CREATE TABLE persona (
        id text COLLATE "C" PRIMARY KEY,
        user_id text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL,
        model text COLLATE "C" NOT NULL,
        description text COLLATE "C",
        system_prompt text COLLATE "C",
        parameters text COLLATE "C" NOT NULL,
        embedding_model text COLLATE "C",
        memory_settings text COLLATE "C",
        mutation_settings text COLLATE "C",
        extra text COLLATE "C",
        created_at bigint NOT NULL,
        updated_at bigint NOT NULL
      );
      CREATE INDEX persona_of_user ON persona (user_id, created_at, id);
      CREATE TABLE persona_usage (
        persona_id text COLLATE "C" PRIMARY KEY REFERENCES persona (id) ON DELETE CASCADE,
        user_id text COLLATE "C" NOT NULL,
        bytes bigint NOT NULL DEFAULT 0
      ) WITH (fillfactor = 70);
      CREATE TABLE user_usage (
        user_id text COLLATE "C" PRIMARY KEY,
        memories bigint NOT NULL,
        bytes bigint NOT NULL
      ) WITH (fillfactor = 70);
      CREATE TABLE persona_revision (
        persona_id text COLLATE "C" PRIMARY KEY REFERENCES persona (id) ON DELETE CASCADE,
        revision bigint NOT NULL
      ) WITH (fillfactor = 70);
      ${countedForUser('persona_usage', { memories: false })}
      ${personaTriggers()}
    `,
  },
]

/** A revision begins at a random number below 2^40, so that a persona made anew under its id does not repeat one. */
function personaTriggers(): string {
  const bytes = bytesOfColumns(['name', 'description', 'system_prompt', 'parameters', 'extra'])
  return `
    CREATE FUNCTION persona_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO persona_usage (persona_id, user_id, bytes) VALUES (NEW.id, NEW.user_id, ${bytes('NEW')});
      INSERT INTO persona_revision (persona_id, revision) VALUES (NEW.id, floor(random() * 1099511627776)::bigint);
      RETURN NULL;
    END $$;
    CREATE TRIGGER persona_added AFTER INSERT ON persona FOR EACH ROW EXECUTE FUNCTION persona_added();
    CREATE FUNCTION persona_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      UPDATE persona_revision SET revision = revision + 1 WHERE persona_id = NEW.id;
      UPDATE persona_usage SET user_id = NEW.user_id, bytes = bytes + (${bytes('NEW')}) - (${bytes('OLD')})
       WHERE persona_id = NEW.id;
      RETURN NULL;
    END $$;
    CREATE TRIGGER persona_changed AFTER UPDATE ON persona FOR EACH ROW EXECUTE FUNCTION persona_changed();`
}
