import type { Database } from './connection.ts'

/** One change of the schema. Its name is its version: never renamed, never edited once released. */
export interface Migration {
  readonly name: string
  up(db: Database): void
}
