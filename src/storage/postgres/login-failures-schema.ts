import type { Migration } from './migration.ts'

export const loginFailureMigrations: readonly Migration[] = []
