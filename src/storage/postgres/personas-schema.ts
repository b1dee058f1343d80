import type { Migration } from './migration.ts'

export const personaMigrations: readonly Migration[] = []
