import type { Migration } from './migration.ts'

export const packageMigrations: readonly Migration[] = []
