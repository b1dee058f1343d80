import { existsSync } from 'node:fs'
import { AppError } from '../../errors.ts'
import type { Scope } from '../memory/memory.ts'
import { type Persona, scopeOf } from '../persona.ts'
import {
  type ArchivedPersona,
  isSmall,
  type PersonaArchive,
  type PersonaWrite,
  type ReplacedBackup,
} from './archive.ts'
import { openBackupFiles } from './backup-files.ts'
import type { BackupReason, BackupRow, BackupStore } from './backup-store.ts'
import { restoredLog } from './import-log.ts'
import { incomingMemories } from './import-memories.ts'
import { incomingPersona } from './import-persona.ts'
import { diskBytes, isSmallPackage } from './package-size.ts'
import type { PackageSource } from './source.ts'
import { openForImport } from './verify-file.ts'
import {
  type PackageRequest,
  type PackageWriter,
  removedMeanwhile,
  type WrittenPersona,
  writePackage,
} from './write-package.ts'
import type { WriteInChild } from './write-task.ts'

/** Backups of personas, kept on this machine. An aborted `signal` stops the work; then nothing is left of it. */
export interface Backups {
  create(persona: Persona, signal?: AbortSignal): Promise<BackupRow>
  list(persona: Persona): Promise<readonly BackupRow[]>
  /**
   * Replaces the persona by a backup, without an id by the newest; the persona is backed up in the same transaction. Throws
   * `not_found` for an unknown backup, and `invalid`, naming the broken record, for a damaged one; then nothing was changed.
   */
  restore(persona: Persona, backupId?: string, signal?: AbortSignal): Promise<Restored>
  /** Runs `replace`, which replaces a persona, with the backup that it takes of it on the way. */
  replaceWithBackup<T>(
    persona: Persona,
    reason: BackupReason,
    replace: (backup: ReplacedBackup) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<{ readonly result: T; readonly row: BackupRow }>
  /** Runs `remove`, which removes personas for good, and then removes the files of their backups. */
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
  readonly folder: string
  readonly now: () => number
  readonly newId: () => string
  readonly producer: string
  /** Restores large backups in a child process; without it everything is done in this process. */
  readonly runInChild?: WriteInChild
}

/** Backups that are kept of a persona, requested ones and automatic ones apart; the oldest is removed first. */
const mostBackups = { manual: 20, automatic: 10 } as const

/** Opens the backups in a folder and sweeps it. */
export async function createBackups(parts: BackupParts): Promise<Backups> {
  const { archive, writer, store, now, newId, producer } = parts
  const { writeZipPackage } = await import('./zip-writer.ts')
  const files = openBackupFiles(parts.folder)
  await sweep()
  return { create, list, restore, replaceWithBackup, removeWithBackups }

  async function create(persona: Persona, signal?: AbortSignal): Promise<BackupRow> {
    const scope = scopeOf(persona)
    const { row } = await writeAhead(persona, 'manual', signal)
    try {
      await store.add(scope, row)
    } catch (reason) {
      files.discard(row.backup_id)
      throw reason
    }
    files.publish(row.backup_id)
    await prune(scope)
    return row
  }

  function list(persona: Persona): Promise<readonly BackupRow[]> {
    return store.list(scopeOf(persona))
  }

  async function restore(persona: Persona, backupId?: string, signal?: AbortSignal): Promise<Restored> {
    const rows = await list(persona)
    const row = backupId === undefined ? rows[0] : rows.find((each) => each.backup_id === backupId)
    if (!row) throw new AppError('not_found', `The persona "${persona.name}" has no backup ${backupId ?? ''}`.trimEnd())
    const path = files.find(row.backup_id)
    const isQuick =
      !existsSync(path) || (isSmallPackage({ path, kind: 'zip' }) && isSmall(archive.extent(scopeOf(persona))))
    if (parts.runInChild && !isQuick)
      return (await parts.runInChild(
        { action: 'restore', scope: scopeOf(persona), backupId: row.backup_id, now: now() },
        signal,
      )) as Restored
    const source = await openBackup(row, path)
    try {
      const write = await restoringWrite(persona, source, row, signal)
      const replace = (backup: ReplacedBackup) => archive.write({ ...write, backup }, signal)
      const { result, row: before } = await replaceWithBackup(persona, 'before_restore', replace, signal)
      return {
        restored: row.backup_id,
        backup_id: before.backup_id,
        memories: result.memories,
        adaptations: row.adaptations,
      }
    } finally {
      source.close()
    }
  }

  async function replaceWithBackup<T>(
    persona: Persona,
    reason: BackupReason,
    replace: (backup: ReplacedBackup) => Promise<T>,
    signal?: AbortSignal,
  ) {
    let ahead: { readonly row: BackupRow; readonly fingerprint: string } | undefined
    let row: BackupRow | undefined
    const isLarge = () => !isSmall(archive.extent(scopeOf(persona)))
    const backup: ReplacedBackup = {
      async prepare() {
        if (ahead) files.discard(ahead.row.backup_id)
        ahead = isLarge() ? await writeAhead(persona, reason, signal) : undefined
      },
      take(replaced) {
        if (ahead?.fingerprint === replaced.fingerprint()) row = ahead.row
        else row = isLarge() ? undefined : writeNow(reason, replaced)
        return row
      },
    }
    let result: T
    try {
      result = await replace(backup)
    } catch (thrown) {
      for (const each of [row, ahead?.row]) if (each) files.discard(each.backup_id)
      throw thrown
    }
    if (!row) throw new AppError('internal', 'A persona was replaced without a backup')
    if (ahead && row !== ahead.row) files.discard(ahead.row.backup_id)
    files.publish(row.backup_id)
    await prune(scopeOf(persona))
    return { result, row }
  }

  async function removeWithBackups<T>(personas: readonly Persona[], remove: () => T | Promise<T>): Promise<T> {
    const rows = (await Promise.all(personas.map(list))).flat()
    const result = await remove()
    for (const { backup_id } of rows) if (!(await store.isKnown(backup_id))) files.remove(backup_id)
    return result
  }

  /** Opens a backup. Throws `invalid` when its file is gone, or changed since it was made. */
  async function openBackup({ backup_id, checksum }: BackupRow, path: string): Promise<PackageSource> {
    if (!existsSync(path))
      throw new AppError('invalid', `The file of the backup ${backup_id} is gone; nothing was changed`)
    const { result, source } = await openForImport({ path, kind: 'zip' })
    if (source && result.actual === checksum) return source
    source?.close()
    const details = source ? ['its checksum is not the one that was noted when it was made'] : result.problems
    throw new AppError('invalid', `The backup ${backup_id} is damaged; nothing was changed`, { details })
  }

  async function restoringWrite(
    persona: Persona,
    source: PackageSource,
    { memories, bytes }: BackupRow,
    signal: AbortSignal | undefined,
  ): Promise<PersonaWrite> {
    const { input, extra, passthrough } = incomingPersona(source.head, {})
    const log = await restoredLog(source, signal)
    const { lineage: _step, ...fields } = passthrough
    const { lineage } = source.head.metadata
    const { id, user_id, created_at } = persona
    return {
      persona: { ...input, extra, id, user_id, created_at, updated_at: now() },
      how: 'replace',
      memories: () => incomingMemories(source, undefined),
      count: memories,
      weight: diskBytes(source.form, bytes),
      log: () => log,
      // A restore adds no step to the lineage.
      passthrough: { ...fields, ...(Array.isArray(lineage) && { lineage }) },
    }
  }

  /** Writes the pending file of a backup, before its row. */
  async function writeAhead(
    persona: Persona,
    reason: BackupReason,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly row: BackupRow; readonly fingerprint: string }> {
    const id = newId()
    const request = requestFor(id)
    const written = await writer.write(scopeOf(persona), request, signal)
    if (!written) throw removedMeanwhile(persona.id)
    return { row: rowOf(persona.id, id, reason, request, written), fingerprint: written.fingerprint }
  }

  /** The same in this process, inside the transaction that replaces the persona. */
  function writeNow(reason: BackupReason, replaced: ArchivedPersona): BackupRow {
    const id = newId()
    const request = requestFor(id)
    return rowOf(replaced.persona.id, id, reason, request, writePackage(replaced, request, producer, writeZipPackage))
  }

  function requestFor(id: string): PackageRequest {
    return { path: files.pending(id), form: 'container', embeddings: true, exportedAt: now() }
  }

  function rowOf(
    persona_id: string,
    backup_id: string,
    reason: BackupReason,
    { exportedAt }: PackageRequest,
    { checksum, content_hash, memories, records }: WrittenPersona,
  ): BackupRow {
    const bytes = files.flush(backup_id)
    const sums = { checksum, content_hash }
    return { backup_id, persona_id, created_at: exportedAt, reason, ...sums, bytes, memories, adaptations: records }
  }

  /** Removes the oldest backups beyond `mostBackups`. */
  async function prune(scope: Scope): Promise<void> {
    const rows = await store.list(scope)
    const manual = rows.filter(({ reason }) => reason === 'manual').slice(mostBackups.manual)
    const automatic = rows.filter(({ reason }) => reason !== 'manual').slice(mostBackups.automatic)
    for (const { backup_id } of [...manual, ...automatic]) {
      await store.remove(scope, backup_id)
      files.remove(backup_id)
    }
    await sweep()
  }

  function sweep(): Promise<void> {
    return files.sweep((backupId) => store.isKnown(backupId))
  }
}
