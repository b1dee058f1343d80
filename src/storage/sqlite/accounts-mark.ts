import { closeSync, existsSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { AppError } from '../../errors.ts'
import type { Database } from './connection.ts'

/**
 * Refuses, with a `configuration` AppError, a database without users beside a mark that it had some: it would open the
 * first-time setup to anybody. The mark is a file beside the database.
 */
export function refuseLostAccounts(db: Database): void {
  if (!preparedIsEmpty(db)()) markAccounts(db)
  else if (existsSync(markerOf(db))) throw lost(db.name, markerOf(db))
}

/** Whether there is no account; each request for the own account asks. */
function preparedIsEmpty(db: Database): () => boolean {
  const any = db.prepare<[], 1>('SELECT 1 FROM user LIMIT 1').pluck()
  return () => any.get() === undefined
}

/** Marks, durably, that the database holds an account. */
export function markAccounts(db: Database): void {
  const marker = markerOf(db)
  if (existsSync(marker)) return
  const file = openSync(marker, 'w', 0o600)
  writeSync(file, 'This file says that there are accounts in the database beside it.\n')
  fsyncSync(file)
  closeSync(file)
}

function markerOf(db: Database): string {
  return `${db.name}.accounts`
}

function lost(path: string, marker: string): AppError {
  return new AppError('configuration', `The accounts that were in the database ${path} are gone`, {
    details: ['Restore it from a backup', `or, to begin anew, remove ${path} and ${marker}`],
  })
}
