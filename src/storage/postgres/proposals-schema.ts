import type { Migration } from './migration.ts'

export const proposalMigrations: readonly Migration[] = []
