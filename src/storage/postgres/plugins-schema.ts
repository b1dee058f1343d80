import type { Migration } from './migration.ts'

export const pluginMigrations: readonly Migration[] = []
