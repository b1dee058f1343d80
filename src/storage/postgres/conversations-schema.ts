import type { Migration } from './migration.ts'

export const conversationMigrations: readonly Migration[] = []
