import type { Migration } from './migration.ts'

export const memoryMigrations: readonly Migration[] = []
