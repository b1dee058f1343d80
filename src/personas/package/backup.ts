import { AppError } from '../../errors.ts'
import { yieldToEventLoop } from '../../process/process.ts'
import type { ChangedBackups, Forgotten, MemoryStore, Scope } from '../memory/memory.ts'
import { type Persona, scopeOf } from '../persona.ts'
import { isSmall, type PersonaArchive, type PersonaWrite, type Revision, readSnapshot } from './archive.ts'
import type { BackupFiles, BackupStore } from './backup-store.ts'
import type { BackupReason, BackupRow } from './outcomes.ts'
import { isSmallPackage, smallPackage } from './package-size.ts'
import { writePendingBackup } from './pending-backup.ts'
import { replacePersona } from './replace.ts'
import { openBackup, restoringWrite } from './restore.ts'
import { untilUnchanged } from './until-unchanged.ts'
import type { PackageWriter } from './write-package.ts'
import type { WriteInChild } from './write-task.ts'

/** Backups of personas. An aborted `signal` stops the work; then nothing is left of it. */
export type Backups = Awaited<ReturnType<typeof createBackups>>

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
  readonly memories: Pick<MemoryStore, 'get'>
  readonly now: () => number
  readonly newId: () => string
  /** Restores and rewrites large backups in a child process; without it everything is done in this process. */
  readonly runInChild?: WriteInChild
}

/** Backups that are kept of a persona, requested ones and automatic ones apart; the oldest is removed first. */
const mostBackups = { manual: 20, automatic: 10 } as const

/** Opens the backups, and removes those that killed processes left unfinished. */
export async function createBackups(parts: BackupParts) {
  const { archive, writer, store, files, now, newId } = parts
  const pendingParts = { writer, files, now, newId }
  await files.sweep()
  return { create, list, restore, replace, forget, rewrite, removeWithBackups }

  async function create(persona: Persona, signal?: AbortSignal): Promise<BackupRow> {
    const scope = scopeOf(persona)
    const earlier = await store.list(scope)
    const { row, revision } = await writePendingBackup(pendingParts, persona, 'manual', signal)
    try {
      await store.add(scope, row)
    } catch (reason) {
      await files.discard(row.backup_id)
      throw reason
    }
    await files.publish(row.backup_id)
    const kept = await withoutRemoved(scope, row, revision, earlier)
    await prune(files, store, scope)
    return kept
  }

  /**
   * What was forgotten while a backup was written could not be taken out of it: what the persona has not any more goes now.
   * Throws `busy` where it was replaced meanwhile, which would leave little; then there is no backup.
   */
  async function withoutRemoved(
    scope: Scope,
    row: BackupRow,
    revision: Revision,
    earlier: readonly BackupRow[],
  ): Promise<BackupRow> {
    if ((await readSnapshot(archive, scope, async (now) => now.revision)) === revision) return row
    const known = new Set(earlier.map(({ backup_id }) => backup_id))
    const fresh = (await store.list(scope)).filter(({ backup_id }) => !known.has(backup_id))
    if (fresh.some(({ reason }) => reason !== 'manual')) {
      await removeBackup(scope, row.backup_id)
      throw new AppError('busy', 'The persona was replaced while it was backed up: try again', { retryAfter: 5 })
    }
    await rewritten(scope, 'removed', [row])
    return (await store.list(scope)).find(({ backup_id }) => backup_id === row.backup_id) ?? row
  }

  function list(persona: Persona): Promise<readonly BackupRow[]> {
    return store.list(scopeOf(persona))
  }

  /**
   * Replaces the persona by a backup, without an id by the newest; the persona is backed up in the same transaction. Throws
   * `not_found` for an unknown backup, and `invalid`, naming the broken record, for a damaged one; then nothing was changed.
   */
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
        const isAsItWas = async () =>
          (await list(persona)).some(
            ({ backup_id, checksum }) => backup_id === row.backup_id && checksum === row.checksum,
          )
        const { memories, row: before } = await replace(persona, 'before_restore', write, signal, isAsItWas)
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

  /**
   * Replaces a persona by a write of that kind, with a backup of exactly the state that it replaces, in one transaction.
   * Throws `busy` when others change the persona all the time; then nothing was changed.
   */
  async function replace(
    persona: Persona,
    reason: BackupReason,
    write: PersonaWrite,
    signal?: AbortSignal,
    isValid?: () => Promise<boolean>,
  ) {
    const replaced = await replacePersona({ ...pendingParts, archive, isValid }, persona, reason, write, signal)
    await prune(files, store, scopeOf(persona))
    return replaced
  }

  /**
   * Takes memories out of the persona's backups, runs `remove`, which removes them from the persona, and takes them out of
   * backups that were made meanwhile. Where it throws, the persona may still have memories that its backups have not.
   */
  async function forget<T>(persona: Persona, what: Forgotten, remove: () => Promise<T>) {
    const scope = scopeOf(persona)
    const known = await store.list(scope)
    const before = await rewritten(scope, what, known)
    const result = await remove()
    const ids = new Set(known.map(({ backup_id }) => backup_id))
    const fresh = (await store.list(scope)).filter(({ backup_id }) => !ids.has(backup_id))
    const after = await rewritten(scope, what, fresh)
    return {
      result,
      backups: { rewritten: before.rewritten + after.rewritten, removed: before.removed + after.removed },
    }
  }

  /** Small backups in this process, and large ones in a child process, so that no request waits for them. */
  async function rewritten(
    scope: Scope,
    what: Forgotten | 'removed',
    rows: readonly BackupRow[],
  ): Promise<ChangedBackups> {
    if (rows.length === 0) return { rewritten: 0, removed: 0 }
    const backupIds = rows.map(({ backup_id }) => backup_id)
    const bytes = rows.reduce((sum, row) => sum + row.bytes, 0)
    const isQuick = bytes <= smallPackage && isSmall(await archive.extent(scope))
    if (isQuick || !parts.runInChild) return rewrite(scope, what, backupIds)
    return (await parts.runInChild({ action: 'forget', scope, what, backupIds, now: now() })) as ChangedBackups
  }

  /** Takes memories out of these backups of a persona, in this process: for the child process of `forget`. */
  async function rewrite(scope: Scope, what: Forgotten | 'removed', backupIds: readonly string[]) {
    const { absentNow, goingWith, rewriteBackup } = await import('./forget.ts')
    const contentOf = async (of: Scope, id: string) => (await parts.memories.get(of, id))?.content
    const going =
      what === 'removed' ? await absentNow({ archive }, scope) : await goingWith({ archive, contentOf }, scope, what)
    const changed = { rewritten: 0, removed: 0 }
    for (const id of backupIds) {
      const done = await untilUnchanged(() =>
        rewriteOnce(scope, id, (row, path, to) => rewriteBackup(row, path, to, going)),
      )
      if (done !== 'as it was') changed[done]++
      await yieldToEventLoop()
    }
    return changed
  }

  /** One try to write a backup again; `changed` where another process did so meanwhile. */
  async function rewriteOnce(
    scope: Scope,
    id: string,
    write: (row: BackupRow, path: string, to: () => Promise<string>) => Promise<BackupRow | 'unreadable' | undefined>,
  ): Promise<'rewritten' | 'removed' | 'as it was' | 'changed'> {
    const current = async () => (await store.list(scope)).find(({ backup_id }) => backup_id === id)
    const row = await current()
    const file = row && (await files.open(id))
    if (!file) return 'as it was'
    const pendingId = newId()
    try {
      const written = await write(row, file.path, () => files.pending(pendingId))
      if (written === undefined) return 'as it was'
      if (written !== 'unreadable')
        return (await files.exchange(pendingId, written, row.checksum)) ? 'rewritten' : 'changed'
      if ((await current())?.checksum !== row.checksum) return 'changed'
      await removeBackup(scope, id)
      return 'removed'
    } catch (reason) {
      await files.discard(pendingId)
      // Another process removed the oldest ones.
      if (!(await current())) return 'as it was'
      throw reason
    } finally {
      file.close()
    }
  }

  async function removeBackup(scope: Scope, backupId: string): Promise<void> {
    await store.remove(scope, backupId)
    await files.remove(backupId)
  }

  /** Runs `remove`, which removes personas for good, and then removes their backups. */
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
