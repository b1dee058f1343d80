import type { Migration } from './migration.ts'

export const limitMigrations: readonly Migration[] = []
