import type { Migration } from './migration.ts'
import { counted } from './usage-schema.ts'

/** Backups of personas, whose bytes stand in parts beside their list: any instance restores them. */
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
      ${counted({
        table: 'persona_backup',
        owner: 'persona',
        key: (row) => `${row}.persona_id`,
        bytes: (row) => `${row}.bytes`,
      })}
    `,
  },
]
