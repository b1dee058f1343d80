import { accountMigrations } from './accounts-schema.ts'
import { adaptationMigrations } from './adaptations-schema.ts'
import type { Database } from './database.ts'
import { personaMigrations } from './personas-schema.ts'

/** One change of the schema. Its name is its version: never renamed, never edited once released. */
export interface Migration {
  readonly name: string
  up(db: Database): void
}

/** Every change of the schema in the order in which it is applied; each area's list stands beside its store. */
export const migrations: readonly Migration[] = [...accountMigrations, ...personaMigrations, ...adaptationMigrations]
