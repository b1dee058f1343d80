import type { Migration } from './migration.ts'
import { personaOfScope, revised } from './revisions-schema.ts'
import { bytesOfColumns, counted } from './usage-schema.ts'

/** The fields of packages that this version does not know, which leave with the persona or memory they came with. */
export const packageMigrations: readonly Migration[] = [
  {
    name: 'packages-1',
    up: `
      CREATE TABLE persona_carried (
        persona_id text COLLATE "C" PRIMARY KEY REFERENCES persona (id) ON DELETE CASCADE,
        fields text COLLATE "C" NOT NULL,
        -- The first greeting of a character card, as JSON.
        greeting text COLLATE "C"
      );
      CREATE TABLE memory_carried (
        memory_id bigint PRIMARY KEY REFERENCES memory (memory_id) ON DELETE CASCADE,
        fields text COLLATE "C" NOT NULL
      );
      ${counted({
        table: 'persona_carried',
        owner: 'persona',
        key: (row) => `${row}.persona_id`,
        bytes: bytesOfColumns(['fields']),
      })}
      ${counted({
        table: 'memory_carried',
        owner: 'scope',
        key: (row) => `${row}.memory_id >> 24`,
        bytes: bytesOfColumns(['fields']),
      })}
      ${revised('persona_carried', (row) => `${row}.persona_id`, ['INSERT', 'UPDATE'])}
      ${revised('memory_carried', (row) => personaOfScope(`${row}.memory_id >> 24`), ['INSERT', 'UPDATE'])}
    `,
  },
]
