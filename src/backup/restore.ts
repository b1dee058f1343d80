import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { makeFolder } from '../formats/formats.ts'
import {
  finishReplacement,
  isReplacing,
  listFolder,
  type Move,
  movedMarkOf,
  openStorageCopies,
  type RestoredAccounts,
  replaceTogether,
  type StorageSettings,
} from '../storage/storage.ts'
import { beforeRestore, stampOf } from './before-restore.ts'
import { databasePart, type Manifest } from './manifest.ts'
import { copiedFiles, foldersOf, type Places, settingsFilesOf } from './work.ts'

export interface Restored extends RestoredAccounts {
  readonly created_at: number
  readonly users: number
  /** The folder with the data from before; undefined where there was none. */
  readonly before: string | undefined
  /** Provider keys that were set when the backup was made: their values are in no backup. */
  readonly keys: readonly string[]
}

interface RestoreTask {
  readonly storage: StorageSettings
  readonly places: Places
  readonly manifest: Manifest
  /** The unpacked parts, which were verified. */
  readonly folder: string
  readonly at: number
  readonly asBackedUp: boolean
}

/**
 * Replaces everything by the parts of a backup, together: the journal of the replacement is the decision, before which
 * nothing was touched and after which the next start would finish it. Throws `busy` while a process has the database open.
 */
export async function restoreFrom(task: RestoreTask): Promise<Restored> {
  const { storage, places, manifest, folder, at, asBackedUp } = task
  const copies = await openStorageCopies(storage)
  const held = copies.holdAlone()
  try {
    finishReplacement(places.data)
    sweep(places)
    const database = join(folder, databasePart)
    const accounts = copies.prepare(database, asBackedUp ? 'as-backed-up' : held.accounts(), at)
    const stamp = stampOf(at)
    const before = beforeRestore(places, stamp)
    // Outside of the folder that a sweep removes: the journal may have to be finished by a later process.
    const staged = join(places.data, `.restore-${stamp}`)
    try {
      mkdirSync(staged, { mode: 0o700 })
      // Once it is filled, everything but the settings is there.
      await copies.fill?.(database, copiedFiles(folder))
      const moves = [
        ...settingsMoves(places, folder, stamp),
        ...(copies.fill ? [] : databaseMoves(copies.path, folder, staged, before, places)),
      ]
      replaceTogether(places.data, moves)
    } catch (reason) {
      if (!isReplacing(places.data)) sweep(places)
      throw reason
    }
    rmSync(staged, { recursive: true, force: true })
    return {
      ...accounts,
      created_at: manifest.created_at,
      users: manifest.database.users,
      before: existsSync(before) ? before : undefined,
      keys: manifest.keys,
    }
  } finally {
    held.release()
  }
}

/** Removes the leftovers of restores that ended before their decision. */
function sweep(places: Places): void {
  for (const [folder, pattern] of [
    [places.data, /^\.restore-\d{8}T\d{6}Z$/],
    [places.config, /^(?:config|mcp)\.json\.restored-\d{8}T\d{6}Z$/],
  ] as const)
    for (const name of listFolder(folder)) if (pattern.test(name)) rmSync(join(folder, name), { recursive: true })
}

function databaseMoves(path: string, folder: string, staged: string, before: string, places: Places): readonly Move[] {
  return [
    ...folderMoves(places, folder, staged, before),
    { from: null, to: join(places.data, 'usage'), aside: join(before, 'usage') },
    // Data that moved away is here again.
    { from: null, to: movedMarkOf(places.data), aside: join(before, basename(movedMarkOf(places.data))) },
    // A log that belongs to another database would damage this one.
    ...['-wal', '-shm'].map((end) => ({ from: null, to: `${path}${end}`, aside: join(before, `aichat.db${end}`) })),
    stagedMove(join(folder, databasePart), path, join(staged, 'aichat.db'), join(before, 'aichat.db')),
  ]
}

/** Folders are replaced as wholes: a folder that the backup has not is empty afterwards. */
function folderMoves(places: Places, folder: string, staged: string, before: string): readonly Move[] {
  return foldersOf(places).map(([name, to]) => {
    const from = join(folder, name)
    makeFolder(from)
    return stagedMove(from, to, join(staged, name), join(before, basename(to)))
  })
}

/** Settings may lie on another disk than the data, so that their new files are laid next to the old. */
function settingsMoves(places: Places, folder: string, stamp: string): readonly Move[] {
  return settingsFilesOf(places).flatMap(([name, to]) => {
    const from = join(folder, name)
    if (!existsSync(from)) return []
    makeFolder(dirname(to))
    const beside = `${to}.restored-${stamp}`
    copyFileSync(from, beside)
    return [{ from: beside, to, aside: `${to}.before-restore-${stamp}` }]
  })
}

function stagedMove(from: string, to: string, staged: string, aside: string): Move {
  renameSync(from, staged)
  return { from: staged, to, aside }
}
