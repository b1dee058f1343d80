import type { Migration } from './migration.ts'
import { revised } from './revisions-schema.ts'
import { bytesOfColumns, counted } from './usage-schema.ts'

/**
 * Logs of adaptation and the states they lead to; both go with their persona. A log has a number of its own, so that one that
 * was written apart becomes its persona's by one change.
 */
export const adaptationMigrations: readonly Migration[] = [
  {
    name: 'adaptations-1',
    up: `
      CREATE TABLE adaptation_log (
        log_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        persona_id text COLLATE "C" NOT NULL UNIQUE DEFERRABLE REFERENCES persona (id) ON DELETE CASCADE,
        bytes bigint NOT NULL DEFAULT 0
      ) WITH (fillfactor = 70);
      CREATE TABLE adaptation (
        log_id bigint NOT NULL REFERENCES adaptation_log (log_id) ON DELETE CASCADE,
        sequence bigint NOT NULL,
        id text COLLATE "C" NOT NULL,
        idempotency_key text COLLATE "C",
        record text COLLATE "C" NOT NULL,
        PRIMARY KEY (log_id, sequence),
        UNIQUE (log_id, id),
        UNIQUE (log_id, idempotency_key)
      );
      CREATE TABLE persona_state (
        persona_id text COLLATE "C" PRIMARY KEY REFERENCES persona (id) ON DELETE CASCADE,
        algorithm text COLLATE "C" NOT NULL,
        sequence bigint NOT NULL,
        hash text COLLATE "C" NOT NULL,
        learned text COLLATE "C" NOT NULL
      );
      CREATE FUNCTION usage_of_log() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF TG_OP <> 'INSERT' THEN
          UPDATE persona_usage SET bytes = bytes - OLD.bytes WHERE persona_id = OLD.persona_id AND OLD.bytes <> 0;
        END IF;
        IF TG_OP <> 'DELETE' THEN
          UPDATE persona_usage SET bytes = bytes + NEW.bytes WHERE persona_id = NEW.persona_id AND NEW.bytes <> 0;
        END IF;
        RETURN NULL;
      END $$;
      CREATE TRIGGER usage_of_log AFTER INSERT OR DELETE OR UPDATE OF bytes, persona_id ON adaptation_log
        FOR EACH ROW EXECUTE FUNCTION usage_of_log();
      ${counted({ table: 'adaptation', owner: 'log', key: (row) => `${row}.log_id`, bytes: bytesOfColumns(['record']) })}
      ${counted({
        table: 'persona_state',
        owner: 'persona',
        key: (row) => `${row}.persona_id`,
        bytes: bytesOfColumns(['learned']),
      })}
      ${revised('persona_state', (row) => `${row}.persona_id`)}
    `,
  },
]
