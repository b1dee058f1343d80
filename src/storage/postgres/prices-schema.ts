import type { Migration } from './migration.ts'

export const priceMigrations: readonly Migration[] = []
