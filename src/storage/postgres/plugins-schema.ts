import type { Migration } from './migration.ts'

/** Overlays with their backups and marks, as the files of a data folder hold them. */
export const pluginMigrations: readonly Migration[] = [
  {
    name: 'plugins-1',
    up: `
      CREATE TABLE plugin (
        id text COLLATE "C" PRIMARY KEY,
        document text,
        backup text,
        hidden boolean NOT NULL DEFAULT false
      );
      CREATE TABLE plugin_active (
        kind text COLLATE "C" PRIMARY KEY,
        id text COLLATE "C" NOT NULL
      );
    `,
  },
]
