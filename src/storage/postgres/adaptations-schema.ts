import type { Migration } from './migration.ts'

export const adaptationMigrations: readonly Migration[] = []
