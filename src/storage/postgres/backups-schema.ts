import type { Migration } from './migration.ts'
import { counted } from './usage-schema.ts'

/** Backups of personas, with their bytes in parts beside their list: any instance restores them. */
export const backupMigrations: readonly Migration[] = [
  {
    name: 'backups-1',
    up: `
      CREATE TABLE persona_backup (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        id text COLLATE "C" NOT NULL UNIQUE,
        persona_id text COLLATE "C" NOT NULL REFERENCES persona (id) ON DELETE CASCADE,
        created_at bigint NOT NULL,
        reason text COLLATE "C" NOT NULL,
        checksum text COLLATE "C" NOT NULL,
        content_hash text COLLATE "C" NOT NULL,
        bytes bigint NOT NULL,
        memories bigint NOT NULL,
        adaptations bigint NOT NULL
      );
      CREATE INDEX persona_backup_order ON persona_backup (persona_id, number);
      -- A package comes before its row; one that never gets a row is swept after a while.
      CREATE TABLE persona_backup_file (
        backup_id text COLLATE "C" PRIMARY KEY,
        written_at bigint NOT NULL DEFAULT (extract(epoch FROM now()) * 1000)::bigint,
        bytes bigint NOT NULL
      );
      CREATE TABLE persona_backup_part (
        backup_id text COLLATE "C" NOT NULL REFERENCES persona_backup_file (backup_id) ON DELETE CASCADE,
        number int NOT NULL,
        bytes bytea NOT NULL,
        PRIMARY KEY (backup_id, number)
      );
      -- A zip is not compressed again.
      ALTER TABLE persona_backup_part ALTER COLUMN bytes SET STORAGE EXTERNAL;
      CREATE FUNCTION persona_backup_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        DELETE FROM persona_backup_file WHERE backup_id = OLD.id;
        RETURN NULL;
      END $$;
      CREATE TRIGGER persona_backup_removed AFTER DELETE ON persona_backup
        FOR EACH ROW EXECUTE FUNCTION persona_backup_removed();
      ${counted({
        table: 'persona_backup',
        owner: 'persona',
        key: (row) => `${row}.persona_id`,
        bytes: (row) => `${row}.bytes`,
      })}
    `,
  },
]
