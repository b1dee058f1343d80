import { closeSync, existsSync, fsyncSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { refuseMoved } from '../files/moved-mark.ts'
import { openPlugins, type PluginPlaces } from '../files/plugins.ts'
import { expectsNewer } from '../schema/newer-schema.ts'
import { atFirstUse } from '../shared/lazy-store.ts'
import type { StoredLimits } from '../shared/limits.ts'
import { mayRun, processMark } from '../shared/process-mark.ts'
import type { StorageUse } from '../shared/storage-use.ts'
import type { StoredSize } from '../shared/stored-size.ts'
import { type Lazily, openStores } from '../stores/stores.ts'
import { createChanges } from './changes.ts'
import type { Database } from './connection.ts'
import { isAbsent, openDatabase, refuseDamaged } from './database.ts'
import { createSqliteDriver } from './driver.ts'
import { translated, translating } from './errors.ts'
import { deferCleanup } from './housekeeping.ts'
import { openReader } from './reader.ts'

/** A data folder on this machine, with the database in one file and the plugins in files of their own. */
export interface SqliteSettings extends PluginPlaces {
  readonly limits: StoredLimits
}

/** Opens the storage in a data folder, see `openStorage`. A store is loaded at its first use. */
export async function openSqliteStorage(settings: SqliteSettings, use: StorageUse) {
  await finishRestore(settings.folder)
  refuseMoved(settings.folder)
  const isTemporary = use.create === false && isAbsent(pathIn(settings.folder))
  const folder = isTemporary ? mkdtempSync(join(tmpdir(), 'aichat-storage-')) : settings.folder
  const path = pathIn(folder)
  const db = use.readOnly ? openReader(path) : await openForWriting(path, use)
  const plugins = openPlugins(settings)
  const changes = createChanges(db, plugins.version, use.service)
  const driver = createSqliteDriver(db, changes, async () => (await import('./removal.ts')).removeHidden(db))
  const readers = new Set<Database>()
  const onBusy = createPatience(db)
  const lazily: Lazily = (load) => atFirstUse(async () => translating(await load(), onBusy))
  return {
    ...openStores(lazily, driver, {
      limits: settings.limits,
      processes: processesHere,
      onAccountAdded: () => markAccounts(db),
      isOfOneMachine: true,
      loadConversationText: async () => (await import('./conversations-text.ts')).conversationText,
      loadResponseParts: async () => (await import('./responses-parts.ts')).createResponseParts(db, driver),
    }),
    memories: lazily(async () => (await import('./memories.ts')).createMemoryStore(db, driver, settings.limits)),
    packages: lazily(async () =>
      (await import('./persona-archive.ts')).createPersonaArchive(db, driver, readers, settings.limits),
    ),
    backupFiles: lazily(async () => {
      const [{ openBackupFiles }, { backupRows }] = await Promise.all([
        import('../files/backup-files.ts'),
        import('../stores/backups.ts'),
      ])
      return openBackupFiles(join(folder, 'backups'), backupRows(driver))
    }),
    plugins,
    changes,
    shared: undefined,
    hasLimits: () => db.prepare('SELECT 1 FROM limit_document LIMIT 1').get() !== undefined,
    size: async () => storedSize(db, path),
    async check() {
      if (isTemporary) return 'none yet; its native library loads'
      try {
        refuseDamaged(path)
      } catch (reason) {
        throw translated(reason)
      }
      return `${path} is whole`
    },
    // A database of this machine is there, or broken.
    patiently: <R>(work: () => Promise<R>) => work(),
    deferCleanup: () => deferCleanup(db),
    async close() {
      for (const reader of readers) reader.close()
      db.close()
      if (isTemporary) rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Processes of this machine are seen. */
const processesHere = {
  mark: processMark(),
  keep: () => undefined,
  ended: async () => (mark: string) => !mayRun(mark),
}

/** Whether a data folder never had a database. */
export function isSqliteAbsent(folder: string): boolean {
  return isAbsent(pathIn(folder))
}

/** A restore that was cut off after its decision is finished before anything is read. */
async function finishRestore(folder: string): Promise<void> {
  if (!existsSync(join(folder, 'replacement.json'))) return
  const { finishReplacement } = await import('../files/replacement.ts')
  // Settings were read before, and may have been replaced now.
  if (finishReplacement(folder))
    throw new AppError('busy', 'A restore that was cut off has been finished: start again', { retryAfter: 1 })
}

async function openForWriting(path: string, use: StorageUse): Promise<Database> {
  const { service = false, isChecked = false, bulk = false } = use
  const db = await openDatabase(path, { check: service && !isChecked, bulk, expectsNewer: expectsNewer(use) })
  try {
    refuseLostAccounts(db)
    return db
  } catch (reason) {
    db.close()
    throw reason
  }
}

function pathIn(folder: string): string {
  return join(folder, 'aichat.db')
}

/**
 * Refuses, with a `configuration` AppError, a database without users next to a mark that it had some: it would open the
 * first-time setup to anybody. The mark is a file next to the database.
 */
function refuseLostAccounts(db: Database): void {
  if (!preparedIsEmpty(db)()) markAccounts(db)
  else if (existsSync(markerOf(db))) throw lost(db.name, markerOf(db))
}

/** Whether there is no account; each request for the own account asks. */
function preparedIsEmpty(db: Database): () => boolean {
  const any = db.prepare<[], 1>('SELECT 1 FROM user LIMIT 1').pluck()
  return () => any.get() === undefined
}

/** Marks, durably, that the database holds an account. */
function markAccounts(db: Database): void {
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

/** Reads sums that are kept as rows are written: a row for each user, however much is stored. */
function storedSize(db: Database, path: string): StoredSize {
  const sums = db
    .prepare<[], { users: number; personas: number; memories: number; personaBytes: number }>(
      `SELECT (SELECT count(*) FROM user) AS users, (SELECT count(*) FROM persona_usage) AS personas,
              ifnull(sum(memories), 0) AS memories, ifnull(sum(bytes), 0) AS personaBytes FROM user_usage`,
    )
    .get()!
  return { ...sums, databaseBytes: bytesOf(path), logBytes: bytesOf(`${path}-wal`) }
}

function bytesOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** Milliseconds that a write waits for another process, once one before has waited in vain. */
const shortWait = 50

/** How long that holds: milliseconds. */
const shortFor = 2_000

/**
 * Waiting for a lock blocks the event loop, and with it all requests: after a write that waited in vain, others fail at
 * once for some seconds (`busy`, which clients may try again), until another waits for the usual time.
 */
function createPatience(db: Database): (waitedMs: number) => void {
  const usual = db.pragma('busy_timeout', { simple: true }) as number
  let isShort = false
  const restore = () => {
    isShort = false
    if (db.open) db.pragma(`busy_timeout = ${usual}`)
  }
  return (waitedMs) => {
    // A write that can be tried again soon hardly waits, see `withoutWaiting`.
    if (isShort || waitedMs < usual * 0.9) return
    isShort = true
    db.pragma(`busy_timeout = ${shortWait}`)
    setTimeout(restore, shortFor).unref()
  }
}
