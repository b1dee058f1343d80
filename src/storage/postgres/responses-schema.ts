import type { Migration } from './migration.ts'

export const responseMigrations: readonly Migration[] = []
