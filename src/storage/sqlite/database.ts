import { closeSync, existsSync, fsyncSync, openSync, statSync, writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { AppError } from '../../errors.ts'
import { makeFolder } from '../../formats/formats.ts'
import { refuseNewer } from '../schema/newer-schema.ts'
import { schemaName } from '../schema/version.ts'
import type { Database } from './connection.ts'
import { translated } from './errors.ts'

export interface OpenOptions {
  /** Reads the whole file once (`PRAGMA quick_check`): for a service's start, not for every command. */
  readonly check?: boolean
  /** Load the sqlite-vec extension; stores that compare vectors need it. */
  readonly vectors?: boolean
  /** For large writes: the pages that a statement may have to put back are kept in memory rather than in temporary files. */
  readonly bulk?: boolean
  /** Opens a database that a newer program wrote, too: see shared/newer-schema.ts. */
  readonly expectsNewer?: boolean
}

/**
 * Opens the database file, creating it on first use, and brings it to the newest schema.
 * Every commit is on the disk before it is acknowledged (WAL with synchronous=FULL), deleted content is overwritten
 * (secure_delete), and freed pages can be given back (incremental auto_vacuum).
 * Throws a `configuration` AppError, and leaves the file as it is, when it is no database, damaged, written by a newer
 * aichat, or gone although it had been there: an empty database would open the first-time setup to every visitor.
 */
export async function openDatabase(path: string, options: OpenOptions = {}): Promise<Database> {
  const marker = markerOf(path)
  refuseLost(path, marker)
  makeFolder(dirname(path))
  let db: Database | undefined
  try {
    const isNew = !existsSync(path)
    if (options.check && !isNew) refuseDamaged(path)
    db = ownersOnly(() => {
      const opened = new BetterSqlite3(path, { timeout: 5000 })
      // Said of an existing database it would be a write.
      if (isNew) {
        // A vector of 1,536 numbers then is in one page, and comparing it copies nothing.
        opened.pragma('page_size = 8192')
        opened.pragma('auto_vacuum = INCREMENTAL')
      }
      opened.pragma('journal_mode = WAL')
      return opened
    })
    db.pragma('synchronous = FULL')
    if (options.bulk) db.pragma('temp_store = MEMORY')
    db.pragma('foreign_keys = ON')
    db.pragma('trusted_schema = OFF')
    db.pragma('secure_delete = ON')
    // Triggers see a row that REPLACE removes, too.
    db.pragma('recursive_triggers = ON')
    // KiB: a search compares some hundred vectors of a page each, and asking the system for them again takes as long again.
    db.pragma('cache_size = -16384')
    if (options.vectors !== false) (await import('sqlite-vec')).load(db)
    await bringUpTo(db, path, options.expectsNewer)
  } catch (reason) {
    db?.close()
    throw explain(reason, path)
  }
  if (!existsSync(marker)) writeMarker(marker)
  return db
}

/** Whether there never was a database of that path. */
export function isAbsent(path: string): boolean {
  return !existsSync(path) && !existsSync(markerOf(path))
}

/** The mark that a database was there: a file next to it. */
function markerOf(path: string): string {
  return `${path}.initialised`
}

/** Reads the whole database once, read-only, so that damage stays as it is. Throws `configuration` for any. */
export function refuseDamaged(path: string): void {
  const db = new BetterSqlite3(path, { readonly: true, timeout: 5000 })
  try {
    if (db.pragma('quick_check', { simple: true }) !== 'ok') throw damaged(path)
  } finally {
    db.close()
  }
}

/** Files made meanwhile can be read by their owner alone: the database holds password hashes and conversations. */
function ownersOnly<T>(work: () => T): T {
  const before = process.umask(0o077)
  try {
    return work()
  } finally {
    process.umask(before)
  }
}

/** Brings the schema up in one transaction, where it is not the present one. */
async function bringUpTo(db: Database, path: string, expectsNewer = false): Promise<void> {
  const applied = appliedTo(db)
  if (!expectsNewer) refuseNewer(path, applied)
  if (applied.has(schemaName)) return
  const { bringUp } = await import('./schema.ts')
  const work = db.transaction(() => {
    // Another process may have been faster between the look and the lock, also one of a newer build.
    const now = appliedTo(db)
    refuseNewer(path, now)
    if (!now.has(schemaName)) bringUp(db, now, Date.now())
  })
  work.immediate()
}

/** The names of the changes that made a database's schema. */
function appliedTo(db: Database): ReadonlySet<string> {
  const isThere = db.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migration'`).get()
  return new Set(isThere ? db.prepare<[], string>('SELECT name FROM migration').pluck().all() : [])
}

function refuseLost(path: string, marker: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size
  if (size === 0 || (size === undefined && existsSync(marker))) {
    throw new AppError(
      'configuration',
      `The database ${path} is ${size === 0 ? 'empty' : 'gone'} although accounts may have been in it`,
      {
        details: ['Restore it from a backup', `or, to start anew and lose everything, remove ${path} and ${marker}`],
      },
    )
  }
}

function explain(reason: unknown, path: string): unknown {
  const code = String((reason as { code?: unknown } | null)?.code ?? '')
  if (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT')) return damaged(path, reason)
  if (/^SQLITE_(?:CANTOPEN|READONLY|PERM)/.test(code))
    return new AppError('io', `The database ${path} cannot be opened for writing: check the folder's permissions`, {
      cause: reason,
    })
  if (code === 'SQLITE_BUSY')
    return new AppError('busy', `The database ${path} is locked by another process`, { cause: reason, retryAfter: 5 })
  if (code === 'ERR_DLOPEN_FAILED' || /^Could not locate the bindings file/.test(String((reason as Error).message)))
    return new AppError('configuration', `The native database does not load: run \`${rebuilding()}\``, {
      cause: reason,
    })
  const known = translated(reason)
  return known instanceof AppError && known.code === 'internal' ? reason : known
}

/** The command that builds the native database in the folder into which it was installed. */
function rebuilding(): string {
  const [folder] = createRequire(import.meta.url)
    .resolve('better-sqlite3/package.json')
    .split('/node_modules/better-sqlite3/')
  return `cd "${folder}" && npm rebuild better-sqlite3`
}

function damaged(path: string, cause?: unknown): AppError {
  return new AppError('configuration', `The database ${path} is damaged; it was not touched`, {
    details: ['Restore it from a backup', `or save the readable part: sqlite3 ${path} .recover`],
    cause,
  })
}

function writeMarker(marker: string): void {
  const file = openSync(marker, 'w', 0o600)
  writeSync(file, 'This file says that the database beside it was set up once.\n')
  fsyncSync(file)
  closeSync(file)
}
