import type { Migration } from './migration.ts'

export const ledgerMigrations: readonly Migration[] = []
