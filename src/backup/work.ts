import { copyFileSync, linkSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolder } from '../formats/formats.ts'
import { type CopiedFiles, openStorageCopies, type StorageSettings } from '../storage/storage.ts'
import { partOf, readArchive, writeArchive } from './archive.ts'
import { databasePart, type Manifest, type Part } from './manifest.ts'

/** The folders and files next to the database that a backup holds. */
export interface Places {
  readonly data: string
  readonly config: string
}

/** The folders of files by their names in a backup. */
export function foldersOf({ data }: Places): readonly (readonly [name: string, path: string])[] {
  return [
    ['plugins', join(data, 'plugins')],
    ['persona-backups', join(data, 'backups')],
  ]
}

/** The files of settings by their names in a backup. */
export function settingsFilesOf({ config }: Places): readonly (readonly [name: string, path: string])[] {
  return ['config.json', 'mcp.json'].map((file) => [`settings/${file}`, join(config, file)] as const)
}

export interface CreateTask {
  readonly storage: StorageSettings
  readonly places: Places
  /** An empty folder on the disk of the data. */
  readonly work: string
  readonly program: string
  readonly at: number
  readonly keys: readonly string[]
}

export interface OpenTask {
  readonly storage: StorageSettings
  readonly archive: string
  /** An empty folder: the parts are unpacked into it. */
  readonly folder: string
}

/** How far a task is. */
export interface Step {
  readonly doing: 'copying the database' | 'packing' | 'unpacking' | 'reading the database'
  readonly share: number
}

/** The packed file of a `create`. */
export function archiveIn(work: string): string {
  return join(work, 'backup.tar.gz')
}

/** Copies everything of one moment into the work folder and packs it there. Throws `not_found` where there is no database yet. */
export async function create(task: CreateTask, onStep: (step: Step) => void): Promise<Manifest> {
  const { work, places, at } = task
  const parts = join(work, 'parts')
  const database = join(parts, databasePart)
  makeFolder(dirname(database))
  const copies = await openStorageCopies(task.storage)
  const kept = copies.keepsFiles ? settingsFilesOf(places) : filesOf(places)
  // Keeps files before and after the copy: each file that the database names existed at one of the two moments.
  const names = new Set(keepFiles(kept, parts))
  await copies.take(database, (share) => onStep({ doing: 'copying the database', share }), copiedFiles(parts))
  for (const name of keepFiles(copies.keepsFiles ? kept : filesOf(places), parts)) names.add(name)
  if (copies.keepsFiles) for (const name of filesWithin(parts)) names.add(name)
  onStep({ doing: 'reading the database', share: 0 })
  const { schema, users, kind } = copies.check(database)
  const summed: Part[] = []
  for (const name of [databasePart, ...[...names].sort()]) summed.push(await partOf(name, join(parts, name)))
  const manifest: Manifest = {
    format: 1,
    program: task.program,
    created_at: at,
    database: { kind, schema, users },
    keys: [...task.keys],
    parts: summed,
  }
  await writeArchive(archiveIn(work), parts, manifest, (share) => onStep({ doing: 'packing', share }))
  return manifest
}

/** Unpacks a backup and reads all of it, its database too. Throws a FileError, `configuration` or `io`. */
export async function openBackup(task: OpenTask, onStep: (step: Step) => void): Promise<Manifest> {
  const manifest = await readArchive(task.archive, task.folder, (share) => onStep({ doing: 'unpacking', share }))
  onStep({ doing: 'reading the database', share: 0 })
  const copies = await openStorageCopies(task.storage)
  copies.check(join(task.folder, databasePart))
  return manifest
}

/** The folders in a backup that belong to the copy of its database. */
export function copiedFiles(parts: string): CopiedFiles {
  return { plugins: join(parts, 'plugins'), personaBackups: join(parts, 'persona-backups') }
}

/** The present files by the names of parts. */
function filesOf(places: Places): readonly (readonly [name: string, path: string])[] {
  const inFolders = foldersOf(places).flatMap(([name, folder]) =>
    plainFilesIn(folder).map((file) => [`${name}/${file}`, join(folder, file)] as const),
  )
  return [...settingsFilesOf(places), ...inFolders]
}

/** The names of the parts that came with the copy of a database. */
function filesWithin(parts: string): readonly string[] {
  return ['plugins', 'persona-backups'].flatMap((name) =>
    plainFilesIn(join(parts, name)).map((file) => `${name}/${file}`),
  )
}

/** Keeps files under the names of parts. Files are replaced as wholes, so that a link keeps one of them. */
function keepFiles(wanted: readonly (readonly [name: string, path: string])[], parts: string): readonly string[] {
  return wanted.filter(([name, path]) => kept(path, join(parts, name))).map(([name]) => name)
}

/** False where there is no such file, or no longer. */
function kept(path: string, as: string): boolean {
  makeFolder(dirname(as))
  try {
    linkSync(path, as)
    return true
  } catch (reason) {
    const { code } = reason as NodeJS.ErrnoException
    if (code === 'EEXIST') return true
    if (code === 'ENOENT') return false
  }
  // Another disk, or one without links.
  copyFileSync(path, as)
  return true
}

function plainFilesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && /^(?!\.)[\w.-]{1,200}$/.test(entry.name))
      .map(({ name }) => name)
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw reason
  }
}
