import type { Migration } from './migration.ts'

export const keyMigrations: readonly Migration[] = []
