import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { removeFile, replaceFile } from './atomic.ts'

/** Where the data of a folder moved to, or was moving to when the process ended. */
export interface MovedMark {
  /** `moving` from shortly before the other database commits until it has. */
  readonly state: 'moving' | 'moved'
  /** The name of the database, without password. */
  readonly to: string
  /** The installation that the other database is one of. */
  readonly id: string
  /** Milliseconds since 1970 UTC. */
  readonly at: number
}

/** The file next to the database that says so. */
export function movedMarkOf(folder: string): string {
  return join(folder, 'aichat.db.moved')
}

/** The content of the mark; undefined where there is none. */
export function readMovedMark(folder: string): MovedMark | undefined {
  let text: string
  try {
    text = readFileSync(movedMarkOf(folder), 'utf8')
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw reason
  }
  try {
    const { state, to, id, at } = JSON.parse(text) as Partial<MovedMark>
    if (state !== undefined && to !== undefined && id !== undefined && at !== undefined) return { state, to, id, at }
  } catch {
    // A damaged mark is still one.
  }
  return { state: 'moved', to: 'another database', id: '', at: 0 }
}

/** Writes the mark, durably. */
export function writeMovedMark(folder: string, mark: MovedMark): void {
  replaceFile(movedMarkOf(folder), `${JSON.stringify(mark)}\n`)
}

export function removeMovedMark(folder: string): void {
  removeFile(movedMarkOf(folder))
}

/** Refuses, with `configuration`, a data folder that has moved to another database: writes there would be lost. */
export function refuseMoved(folder: string): void {
  const mark = readMovedMark(folder)
  if (!mark) return
  const file = movedMarkOf(folder)
  if (mark.state === 'moved')
    throw new AppError('configuration', `The data of ${folder} moved to ${mark.to}`, {
      details: [
        'Set DATABASE_URL to that database, and JWT_SECRET',
        'or bring the data back: aichat db migrate --from URL',
        `or go on with the data as it was before the move: remove ${file}`,
      ],
    })
  throw new AppError('configuration', `A move of the data of ${folder} to ${mark.to} was cut off at its end`, {
    details: [
      'Run this again, which finds out whether it was done: aichat db migrate --to URL',
      `or, where that database does not have the data, go on here: remove ${file}`,
    ],
  })
}
