import type { Transaction } from './sql.ts'

/**
 * One change of the schema. Its name is its version: never renamed, never edited once released. Within a release it only adds,
 * so that the release before runs beside it on the same database.
 */
export interface Migration {
  readonly name: string
  /** A script, or a function that computes the change. */
  readonly up: string | ((tx: Transaction) => Promise<void>)
}
