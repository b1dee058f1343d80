import { existsSync, mkdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../errors.ts'
import { damaged, decryptFile, encryptFile, FileError, fileKindOf, makeFolder } from '../formats/formats.ts'
import { openScratch } from '../personas/personas.ts'
import type { StorageSettings } from '../storage/storage.ts'
import { keptFromBefore, removeFromBefore } from './before-restore.ts'
import { inChild } from './in-child.ts'
import type { Manifest } from './manifest.ts'
import { restoreFrom } from './restore.ts'
import { type BackupTarget, isBackupName, type KeptBackup, newName } from './target.ts'
import { archiveIn, type Places, type Step } from './work.ts'

export interface Progress {
  readonly onStep?: ((step: Step) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

export interface OpenOptions extends Progress {
  /** Of an encrypted backup; the installation's own where none is given. */
  readonly passphrase?: string | undefined
}

export interface CreateOptions extends OpenOptions {
  /** Made by the schedule, which removes it after some time. */
  readonly scheduled?: boolean
}

export interface RestoreOptions extends OpenOptions {
  /** Passwords, roles and API keys are those of the backup, not those of today. */
  readonly asBackedUp?: boolean
}

/** A backup where they are kept, or a file elsewhere. */
export type BackupSource = { readonly name: string } | { readonly file: string }

/** A backup that was read to its end. */
export type VerifiedBackup = ReturnType<typeof viewOf>

/** Backups of everything that this installation keeps. */
export type Backups = ReturnType<typeof createBackups>

export interface BackupParts {
  readonly storage: StorageSettings
  readonly places: Places
  readonly target: BackupTarget
  /** Days for which data from before a restore is kept. */
  readonly daysBeforeRestore: number
  readonly program: string
  readonly keyNames: () => readonly string[]
  readonly passphrase: () => Promise<string | undefined>
  readonly clock: () => number
  readonly newId: () => string
}

export function createBackups(parts: BackupParts) {
  const { storage, places, target, clock, newId } = parts
  let isMaking = false
  /** Gives work a folder of its own on the disk of the data, and removes it after, or at the next one if this process is killed. */
  const inFolder = async <R>(work: (folder: string) => Promise<R>): Promise<R> => {
    const wasThere = existsSync(places.data)
    const parent = join(places.data, 'backup-work')
    const folder = openScratch(parent, newId).path()
    // Another process may remove its parent, empty, in this moment.
    makeFolder(folder)
    try {
      return await work(folder)
    } finally {
      rmSync(folder, { recursive: true, force: true })
      removeEmpty(parent)
      if (!wasThere) removeEmpty(places.data)
    }
  }

  return {
    /** The place where they are kept, for messages. */
    place: target.folder,
    /**
     * Throws `busy` while one is made already, `not_found` before there is a database, and `io` where the disk is full.
     */
    async create({
      onStep = () => {},
      signal,
      scheduled = false,
      passphrase,
    }: CreateOptions = {}): Promise<KeptBackup> {
      if (isMaking) throw new AppError('busy', 'A backup is being made already', { retryAfter: 30 })
      isMaking = true
      try {
        const secret = passphrase ?? (await parts.passphrase())
        return await inFolder(async (work) => {
          const at = clock()
          const keys = parts.keyNames()
          await inChild('create', { storage, places, work, program: parts.program, at, keys }, onStep, signal)
          const file = secret === undefined ? archiveIn(work) : `${archiveIn(work)}.age`
          if (secret !== undefined) {
            await encryptFile(archiveIn(work), file, secret, undefined, signal)
            rmSync(archiveIn(work))
          }
          const name = newName(at, { scheduled, encrypted: secret !== undefined })
          await target.put(file, name)
          const kept = (await target.list()).find((one) => one.name === name)
          if (!kept)
            throw new AppError('io', `The backup ${name} is not in ${target.folder} although it was written there`)
          removeBeforeRestores()
          return kept
        })
      } finally {
        isMaking = false
      }
    },
    /** The newest first. */
    list: target.list,
    /** The path of the file of a backup. Throws `not_found`. */
    fileOf: (name: string) => fileOf({ name }),
    /** Reads all of a backup. Throws a FileError or `configuration` for one that is damaged. */
    verify: (source: BackupSource, options: OpenOptions = {}) =>
      inFolder(async (work) => {
        const { manifest } = await unpacked(source, work, options)
        return viewOf('name' in source ? source.name : source.file, manifest)
      }),
    /** Throws `not_found`. */
    async remove(name: string): Promise<KeptBackup> {
      const kept = (await target.list()).find((one) => one.name === name)
      if (!kept || !target.remove(name))
        throw new AppError('not_found', `Backup "${name.slice(0, 200)}" not found in ${target.folder}`)
      return kept
    },
    /** Removes scheduled backups but for the newest `keep`; gives the removed ones. */
    async prune(keep: number): Promise<readonly KeptBackup[]> {
      const old = (await target.list()).filter(({ scheduled }) => scheduled).slice(keep)
      for (const { name } of old) target.remove(name)
      return old
    },
    /** Replaces all data by a verified backup, or none; keeps the earlier data. Throws `busy` for an open database. */
    restore: (source: BackupSource, options: RestoreOptions = {}) =>
      inFolder(async (work) => {
        const { manifest, folder } = await unpacked(source, work, options)
        options.signal?.throwIfAborted()
        // The data that is replaced now is kept in any case.
        removeBeforeRestores()
        return restoreFrom({ storage, places, manifest, folder, at: clock(), asBackedUp: options.asBackedUp === true })
      }),
    /** Whether there may be any. */
    async mayExist(): Promise<boolean> {
      // A folder that cannot be read may hold some.
      return target
        .list()
        .then((kept) => kept.length > 0)
        .catch(() => true)
    },
    beforeRestores: () => keptFromBefore(places).map(({ path }) => path),
    removeBeforeRestores,
  }

  /** Removes data from before restores that was kept for its time; gives the removed paths. `create` and `restore` do so, too. */
  function removeBeforeRestores(): readonly string[] {
    return removeFromBefore(places, parts.daysBeforeRestore, clock())
  }

  /** Unpacks a backup into a folder and reads all of it. */
  async function unpacked(
    source: BackupSource,
    work: string,
    { passphrase, onStep = () => {}, signal }: OpenOptions,
  ): Promise<{ readonly manifest: Manifest; readonly folder: string }> {
    const file = fileOf(source)
    const archive = fileKindOf(file) === 'age' ? join(work, 'decrypted.tar.gz') : file
    if (archive !== file) await decrypted(file, archive, passphrase ?? (await parts.passphrase()), signal)
    const folder = join(work, 'parts')
    mkdirSync(folder, { mode: 0o700 })
    return { manifest: await inChild('open', { storage, archive, folder }, onStep, signal), folder }
  }

  function fileOf(source: BackupSource): string {
    if ('file' in source) {
      if (!existsSync(source.file)) throw new AppError('no_input', `Cannot read ${source.file}: file not found`)
      if (!statSync(source.file).isFile()) throw new AppError('no_input', `Cannot read ${source.file}: it is no file`)
      return source.file
    }
    const { name } = source
    if (!isBackupName(name))
      throw new AppError('not_found', `Backup "${name.slice(0, 200)}" not found in ${target.folder}`)
    return target.fileOf(name)
  }
}

/** Removes a folder unless something is in it. */
function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // The work of another process is in it, or the data of an installation.
  }
}

async function decrypted(
  from: string,
  to: string,
  passphrase: string | undefined,
  signal?: AbortSignal,
): Promise<void> {
  if (passphrase === undefined)
    throw new AppError('usage', 'The backup is encrypted and needs its passphrase', {
      details: ['Add --passphrase-stdin, or set AICHAT_BACKUP_PASSPHRASE'],
    })
  try {
    await decryptFile(from, to, passphrase, signal)
  } catch (reason) {
    if (!(reason instanceof FileError)) throw reason
    if (reason.kind === 'not_authenticated')
      throw new FileError(
        'not_authenticated',
        'The backup does not decrypt: the passphrase is wrong or the file was changed',
      )
    throw reason.kind === 'damaged' ? damaged('The backup is damaged: its encryption cannot be read', reason) : reason
  }
}

function viewOf(name: string, manifest: Manifest) {
  return {
    name,
    created_at: manifest.created_at,
    program: manifest.program,
    schema: manifest.database.schema,
    users: manifest.database.users,
    files: manifest.parts.length,
    bytes: manifest.parts.reduce((sum, { bytes }) => sum + bytes, 0),
    keys: manifest.keys,
  }
}
