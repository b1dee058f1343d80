import type { Migration } from './migration.ts'

export const accountMigrations: readonly Migration[] = []
