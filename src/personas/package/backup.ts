import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import type { Scope } from '../memory/memory.ts'
import type { Persona } from '../persona.ts'
import {
  type ArchivedPersona,
  isSmall,
  type PersonaArchive,
  type PersonaWrite,
  type ReplacedBackup,
} from './archive.ts'
import type { BackupReason, BackupRow, BackupStore } from './backup-store.ts'
import { holder, holderPattern, isHeld } from './holders.ts'
import { incomingMemories, incomingPersona, returningLog, unchanged, weightOf } from './import.ts'
import type { PackageSource } from './source.ts'
import { type VerifiedPackage, verifyInThisProcess, verifyPackage } from './verify-file.ts'
import { type PackagedPersona, type PackageRequest, type PackageWriter, packaged } from './write-package.ts'
import { isSmallPackage, type WriteInChild } from './write-task.ts'

/** Backups of personas, kept on this machine. An aborted `signal` stops the work; then nothing is left of it. */
export interface Backups {
  create(persona: Persona, signal?: AbortSignal): Promise<BackupRow>
  list(persona: Persona): Promise<readonly BackupRow[]>
  /**
   * Puts a backup, or without an id the newest, in the place of the persona, which is backed up in the same
   * transaction. Throws `not_found` for an unknown one, and `invalid`, naming the broken record, for one that is
   * damaged; then nothing was changed.
   */
  restore(persona: Persona, backupId?: string, signal?: AbortSignal): Promise<Restored>
  /** Runs something that replaces a persona and hands it the function that backs up what is replaced. */
  taking<T>(
    persona: Persona,
    reason: BackupReason,
    replace: (backup: ReplacedBackup) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<{ readonly result: T; readonly row: BackupRow }>
  /** Runs something that removes personas for good, and then removes the files of their backups. */
  leaving<T>(personas: readonly Persona[], remove: () => T | Promise<T>): Promise<T>
}

export interface Restored {
  readonly restored: string
  /** The backup of what was replaced. */
  readonly backup_id: string
  readonly memories: number
  readonly adaptations: number
}

export interface BackupParts {
  readonly archive: PersonaArchive
  readonly packager: PackageWriter
  readonly store: BackupStore
  readonly folder: string
  readonly now: () => number
  readonly newId: () => string
  readonly producer: string
  /** Restores what would hold others up; without it everything is done in this process. */
  readonly runInChild?: WriteInChild
}

/** As many backups of a persona are kept, those that were asked for apart from the others; the oldest goes first. */
const mostBackups = { manual: 20, automatic: 10 } as const

/** A file without a row and without a holder may be a backup's that an earlier aichat is making, unless it is older: milliseconds. */
const orphanAge = 3_600_000

/** Backups in a folder; what is left over in it from earlier is removed. */
export async function createBackups(parts: BackupParts): Promise<Backups> {
  const { archive, packager, store, folder, now, newId, producer } = parts
  const { writeContainer } = await import('./zip-writer.ts')
  await sweep()
  return { create, list, restore, taking, leaving }

  async function create(persona: Persona, signal?: AbortSignal): Promise<BackupRow> {
    const scope = scopeOf(persona)
    const made = await writeAhead(persona, 'manual', signal)
    try {
      await store.add(scope, made.row)
    } catch (reason) {
      discard(made.row.backup_id)
      throw reason
    }
    publish(made.row.backup_id)
    await prune(scope)
    return made.row
  }

  function list(persona: Persona): Promise<readonly BackupRow[]> {
    return store.list(scopeOf(persona))
  }

  async function restore(persona: Persona, backupId?: string, signal?: AbortSignal): Promise<Restored> {
    const rows = await list(persona)
    const row = backupId === undefined ? rows[0] : rows.find((each) => each.backup_id === backupId)
    if (!row)
      throw new AppError(
        'not_found',
        backupId === undefined
          ? `The persona "${persona.name}" has no backup`
          : `The persona "${persona.name}" has no backup ${backupId}`,
      )
    const file = placeOf(row.backup_id)
    const isQuick =
      !existsSync(file) || (isSmallPackage({ path: file, kind: 'zip' }) && isSmall(archive.extent(scopeOf(persona))))
    if (parts.runInChild && !isQuick)
      return (await parts.runInChild(
        { action: 'restore', scope: scopeOf(persona), backupId: row.backup_id, now: now() },
        signal,
      )) as Restored
    const source = await openBackup(row, signal)
    try {
      const arrival = await arrivalOf(persona, source, row, signal)
      const replace = (backup: ReplacedBackup) => archive.write({ ...arrival, backup }, signal)
      const { result, row: before } = await taking(persona, 'before_restore', replace, signal)
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

  async function taking<T>(
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
        if (ahead) discard(ahead.row.backup_id)
        ahead = isLarge() ? await writeAhead(persona, reason, signal) : undefined
      },
      take(replaced) {
        if (ahead?.fingerprint === replaced.fingerprint()) row = ahead.row
        else if (isLarge()) row = undefined
        else row = writeNow(reason, replaced)
        return row
      },
    }
    let result: T
    try {
      result = await replace(backup)
    } catch (thrown) {
      for (const each of [row, ahead?.row]) if (each) discard(each.backup_id)
      throw thrown
    }
    if (!row) throw new AppError('internal', 'A persona was replaced without a backup')
    if (ahead && row !== ahead.row) discard(ahead.row.backup_id)
    publish(row.backup_id)
    await prune(scopeOf(persona))
    return { result, row }
  }

  async function leaving<T>(personas: readonly Persona[], remove: () => T | Promise<T>): Promise<T> {
    const rows = (await Promise.all(personas.map(list))).flat()
    const result = await remove()
    for (const { backup_id } of rows) if (!(await store.isKnown(backup_id))) rmSync(pathOf(backup_id), { force: true })
    return result
  }

  /** A backup that is what it was when it was made. Throws `invalid` for any other. */
  async function openBackup(row: BackupRow, signal: AbortSignal | undefined): Promise<PackageSource> {
    let judged: VerifiedPackage
    try {
      const file = { path: placeOf(row.backup_id), kind: 'zip' } as const
      judged = await (parts.runInChild ? verifyPackage(file, signal) : verifyInThisProcess(file))
    } catch (reason) {
      if ((reason as NodeJS.ErrnoException).code === 'ENOENT')
        throw new AppError('invalid', `The file of the backup ${row.backup_id} is gone; nothing was changed`)
      throw reason
    }
    const { verdict } = judged
    if (verdict.valid && verdict.actual === row.checksum) return unchanged(await judged.open(), verdict.content_hash)
    const details = verdict.valid ? ['its checksum is not the one that was noted when it was made'] : verdict.problems
    throw new AppError('invalid', `The backup ${row.backup_id} is damaged; nothing was changed`, { details })
  }

  async function arrivalOf(
    persona: Persona,
    source: PackageSource,
    { memories, bytes }: BackupRow,
    signal: AbortSignal | undefined,
  ): Promise<PersonaWrite> {
    const { input, extra, passthrough } = incomingPersona(source.head, {})
    const log = await returningLog(source, signal)
    const { lineage: _step, ...fields } = passthrough
    const { lineage } = source.head.metadata
    return {
      persona: {
        ...input,
        extra,
        id: persona.id,
        user_id: persona.user_id,
        created_at: persona.created_at,
        updated_at: now(),
      },
      how: 'replace',
      memories: () => incomingMemories(source, undefined),
      count: memories,
      weight: weightOf(source, bytes),
      log: () => log,
      // A persona that comes back to where it was has no new step of descent.
      passthrough: { ...fields, ...(Array.isArray(lineage) && { lineage }) },
    }
  }

  /** Writes the file of a backup before there is a row for it. */
  async function writeAhead(
    persona: Persona,
    reason: BackupReason,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly row: BackupRow; readonly fingerprint: string }> {
    const id = newId()
    const wish = wishFor(id)
    const made = await packager.write(scopeOf(persona), wish, signal)
    if (!made) throw new AppError('not_found', `The persona "${persona.id}" was removed meanwhile`)
    return { row: rowOf(persona.id, id, reason, wish, made), fingerprint: made.fingerprint }
  }

  /** The same at once, of a persona that is just being replaced. */
  function writeNow(reason: BackupReason, replaced: ArchivedPersona): BackupRow {
    const id = newId()
    const wish = wishFor(id)
    return rowOf(replaced.persona.id, id, reason, wish, packaged(replaced, wish, producer, writeContainer))
  }

  function wishFor(id: string): PackageRequest {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return { path: pendingOf(id), form: 'container', embeddings: true, exportedAt: now() }
  }

  function rowOf(
    persona_id: string,
    backup_id: string,
    reason: BackupReason,
    { path, exportedAt }: PackageRequest,
    { checksum, content_hash, memories, records }: PackagedPersona,
  ): BackupRow {
    flushFolder(folder)
    return {
      backup_id,
      persona_id,
      created_at: exportedAt,
      reason,
      checksum,
      content_hash,
      bytes: statSync(path).size,
      memories,
      adaptations: records,
    }
  }

  /** Keeps the newest. */
  async function prune(scope: Scope): Promise<void> {
    const rows = await store.list(scope)
    const manual = rows.filter(({ reason }) => reason === 'manual').slice(mostBackups.manual)
    const automatic = rows.filter(({ reason }) => reason !== 'manual').slice(mostBackups.automatic)
    for (const { backup_id } of [...manual, ...automatic]) {
      await store.remove(scope, backup_id)
      rmSync(pathOf(backup_id), { force: true })
    }
    await sweep()
  }

  /**
   * Removes files that no row knows: of removed personas, and of a process that was killed while it wrote one. One that was
   * killed after the row was there left a whole backup, which gets its name.
   */
  async function sweep(): Promise<void> {
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      if (isHeld(name)) continue
      const path = join(folder, name)
      const [first = '', second = ''] = name.split('.')
      const isPending = holderPattern.test(name)
      const isKnown = await store.isKnown(isPending ? second : first)
      if (isPending && isKnown && name.endsWith(`${second}${ending}`)) renameSync(path, pathOf(second))
      else if (isPending || (!isKnown && ageOf(path) > orphanAge)) rmSync(path, { force: true })
    }
  }

  /** Where a backup is. */
  function pathOf(backupId: string): string {
    return join(folder, `${backupId}${ending}`)
  }

  /** Where it is until its row is in the database: the name says which process to leave it to. */
  function pendingOf(backupId: string): string {
    return join(folder, `${holder()}.${backupId}${ending}`)
  }

  /** The one or the other, for a backup that another process has just made. */
  function placeOf(backupId: string): string {
    if (existsSync(pathOf(backupId)) || !existsSync(folder)) return pathOf(backupId)
    const pending = readdirSync(folder).find((name) => name.endsWith(`.${backupId}${ending}`))
    return pending === undefined ? pathOf(backupId) : join(folder, pending)
  }

  function publish(backupId: string): void {
    renameSync(pendingOf(backupId), pathOf(backupId))
    flushFolder(folder)
  }

  function discard(backupId: string): void {
    rmSync(pendingOf(backupId), { force: true })
  }
}

const ending = '.dna.zip'

/** Milliseconds since a file was written. */
function ageOf(path: string): number {
  return Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
}

function scopeOf(persona: Persona): Scope {
  return { personaId: persona.id, userId: persona.user_id }
}

/** A file that is named in the database must be found in its folder, also after the power went. */
function flushFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
