import type { Migration } from './migration.ts'

export const backupMigrations: readonly Migration[] = []
