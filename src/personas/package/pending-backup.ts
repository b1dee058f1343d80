import { type Persona, scopeOf } from '../persona.ts'
import type { BackupFiles } from './backup-store.ts'
import type { BackupReason, BackupRow } from './outcomes.ts'
import { type PackageRequest, type PackageWriter, removedMeanwhile } from './write-package.ts'

/** A backup with its package kept and its row not stored yet, and the revision that it shows. */
export type PendingBackup = Awaited<ReturnType<typeof writePendingBackup>>

export interface PendingBackupParts {
  readonly writer: Pick<PackageWriter, 'write'>
  readonly files: BackupFiles
  readonly now: () => number
  readonly newId: () => string
}

/** Writes the file of a backup of the persona as it is now; after a failure there is none. */
export async function writePendingBackup(
  { writer, files, now, newId }: PendingBackupParts,
  persona: Persona,
  reason: BackupReason,
  signal: AbortSignal | undefined,
) {
  const id = newId()
  const request: PackageRequest = {
    path: await files.pending(id),
    form: 'container',
    embeddings: true,
    exportedAt: now(),
  }
  const written = await writer.write(scopeOf(persona), request, signal)
  if (!written) throw removedMeanwhile(persona.id)
  const { revision, checksum, content_hash, memories, records } = written
  const row: BackupRow = {
    backup_id: id,
    persona_id: persona.id,
    created_at: request.exportedAt,
    reason,
    checksum,
    content_hash,
    bytes: await kept(files, id),
    memories,
    adaptations: records,
  }
  return { row, revision }
}

async function kept(files: BackupFiles, id: string): Promise<number> {
  try {
    return await files.keep(id)
  } catch (reason) {
    await files.discard(id)
    throw reason
  }
}
