import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'

/** The file next to the database with which an earlier build noted that the data had moved to PostgreSQL. */
export function movedMarkOf(folder: string): string {
  return join(folder, 'aichat.db.moved')
}

/** Refuses, with `configuration`, a data folder that has moved to another database: writes there would be lost. */
export function refuseMoved(folder: string): void {
  const file = movedMarkOf(folder)
  if (!existsSync(file)) return
  throw new AppError('configuration', `The data of ${folder} moved to the database that ${file} names`, {
    details: [
      'Set DATABASE_URL to that database, and JWT_SECRET',
      `or go on with the data as it was before the move: remove ${file}`,
    ],
  })
}
