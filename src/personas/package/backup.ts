import { AppError } from '../../errors.ts'
import type { Scope } from '../memory/memory.ts'
import { type Persona, scopeOf } from '../persona.ts'
import { isSmall, type PersonaArchive, type PersonaWrite } from './archive.ts'
import type { BackupFiles, BackupReason, BackupRow, BackupStore } from './backup-store.ts'
import { isSmallPackage, smallPackage } from './package-size.ts'
import { writePendingBackup } from './pending-backup.ts'
import { type Replaced, replacePersona } from './replace.ts'
import { openBackup, restoringWrite } from './restore.ts'
import type { PackageWriter } from './write-package.ts'
import type { WriteInChild } from './write-task.ts'

/** Backups of personas. An aborted `signal` stops the work; then nothing is left of it. */
export interface Backups {
  create(persona: Persona, signal?: AbortSignal): Promise<BackupRow>
  list(persona: Persona): Promise<readonly BackupRow[]>
  /**
   * Replaces the persona by a backup, without an id by the newest; the persona is backed up in the same transaction. Throws
   * `not_found` for an unknown backup, and `invalid`, naming the broken record, for a damaged one; then nothing was changed.
   */
  restore(persona: Persona, backupId?: string, signal?: AbortSignal): Promise<Restored>
  /**
   * Replaces a persona by a write of that kind, with a backup of exactly the state that it replaces, in one transaction.
   * Throws `busy` when others change the persona all the time; then nothing was changed.
   */
  replace(persona: Persona, reason: BackupReason, write: PersonaWrite, signal?: AbortSignal): Promise<Replaced>
  /** Runs `remove`, which removes personas for good, and then removes their backups. */
  removeWithBackups<T>(personas: readonly Persona[], remove: () => T | Promise<T>): Promise<T>
}

export interface Restored {
  readonly restored: string
  /** The backup of the replaced persona. */
  readonly backup_id: string
  readonly memories: number
  readonly adaptations: number
}

export interface BackupParts {
  readonly archive: PersonaArchive
  readonly writer: PackageWriter
  readonly store: BackupStore
  readonly files: BackupFiles
  readonly now: () => number
  readonly newId: () => string
  /** Restores large backups in a child process; without it everything is done in this process. */
  readonly runInChild?: WriteInChild
}

/** Backups that are kept of a persona, requested ones and automatic ones apart; the oldest is removed first. */
const mostBackups = { manual: 20, automatic: 10 } as const

/** Opens the backups, and removes those that killed processes left unfinished. */
export async function createBackups(parts: BackupParts): Promise<Backups> {
  const { archive, writer, store, files, now, newId } = parts
  const pendingParts = { writer, files, now, newId }
  await files.sweep()
  return { create, list, restore, replace, removeWithBackups }

  async function create(persona: Persona, signal?: AbortSignal): Promise<BackupRow> {
    const scope = scopeOf(persona)
    const { row } = await writePendingBackup(pendingParts, persona, 'manual', signal)
    try {
      await store.add(scope, row)
    } catch (reason) {
      await files.discard(row.backup_id)
      throw reason
    }
    await files.publish(row.backup_id)
    await prune(files, store, scope)
    return row
  }

  function list(persona: Persona): Promise<readonly BackupRow[]> {
    return store.list(scopeOf(persona))
  }

  async function restore(persona: Persona, backupId?: string, signal?: AbortSignal): Promise<Restored> {
    const rows = await list(persona)
    const row = backupId === undefined ? rows[0] : rows.find((each) => each.backup_id === backupId)
    if (!row) throw new AppError('not_found', `The persona "${persona.name}" has no backup ${backupId ?? ''}`.trimEnd())
    const inChild = async () =>
      (await parts.runInChild!(
        { action: 'restore', scope: scopeOf(persona), backupId: row.backup_id, now: now() },
        signal,
      )) as Restored
    // Where its package is kept elsewhere, it is fetched by the process that restores it.
    if (parts.runInChild && row.bytes > smallPackage) return inChild()
    const file = await files.open(row.backup_id)
    try {
      if (file && parts.runInChild && !(await isQuick(persona, file.path))) return await inChild()
      const source = await openBackup(row, file?.path)
      try {
        const write = await restoringWrite(persona, source, row, now(), signal)
        const { memories, row: before } = await replace(persona, 'before_restore', write, signal)
        return { restored: row.backup_id, backup_id: before.backup_id, memories, adaptations: row.adaptations }
      } finally {
        source.close()
      }
    } finally {
      file?.close()
    }
  }

  /** Whether a restore is done in this process. */
  async function isQuick(persona: Persona, path: string): Promise<boolean> {
    return isSmallPackage({ path, kind: 'zip' }) && isSmall(await archive.extent(scopeOf(persona)))
  }

  async function replace(persona: Persona, reason: BackupReason, write: PersonaWrite, signal?: AbortSignal) {
    const replaced = await replacePersona({ ...pendingParts, archive }, persona, reason, write, signal)
    await prune(files, store, scopeOf(persona))
    return replaced
  }

  async function removeWithBackups<T>(personas: readonly Persona[], remove: () => T | Promise<T>): Promise<T> {
    const rows = (await Promise.all(personas.map(list))).flat()
    const result = await remove()
    for (const { backup_id } of rows) if (!(await store.isKnown(backup_id))) await files.remove(backup_id)
    return result
  }
}

/** Removes the oldest backups of a persona beyond `mostBackups`. */
async function prune(files: BackupFiles, store: BackupStore, scope: Scope): Promise<void> {
  const rows = await store.list(scope)
  const manual = rows.filter(({ reason }) => reason === 'manual').slice(mostBackups.manual)
  const automatic = rows.filter(({ reason }) => reason !== 'manual').slice(mostBackups.automatic)
  for (const { backup_id } of [...manual, ...automatic]) {
    await store.remove(scope, backup_id)
    await files.remove(backup_id)
  }
  await files.sweep()
}
