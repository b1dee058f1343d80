import type { Migration } from './migration.ts'

/** A counter per kind of cached data, raised in the transaction of each write: see changes.ts. */
export const changeMigrations: readonly Migration[] = [
  {
    name: 'changes-1',
    up: `
      CREATE TABLE change (
        kind text COLLATE "C" PRIMARY KEY,
        number bigint NOT NULL
      );
      INSERT INTO change VALUES ('accounts', 0), ('limits', 0), ('plugins', 0), ('prices', 0);
    `,
  },
]
