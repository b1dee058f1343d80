import type { Migration } from './migration.ts'

/** One row that names the installation of the database: see installation.ts. */
export const installationMigrations: readonly Migration[] = [
  {
    name: 'installation-1',
    up: `
      CREATE TABLE installation (
        only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
        id text COLLATE "C" NOT NULL,
        secret_print bytea,
        had_accounts boolean NOT NULL DEFAULT false
      );
    `,
  },
]
