import { AppError } from '../../errors.ts'
import type { Persona } from '../persona.ts'
import type { Outcome, PersonaArchive, PersonaWrite, StagedPersona } from './archive.ts'
import type { BackupReason, BackupRow } from './outcomes.ts'
import { type PendingBackup, type PendingBackupParts, writePendingBackup } from './pending-backup.ts'
import { untilUnchanged } from './until-unchanged.ts'

export interface ReplaceParts extends PendingBackupParts {
  readonly archive: Pick<PersonaArchive, 'stage'>
  /** Whether that with which the persona is replaced is still so; asked after the revision that the publication expects. */
  readonly isValid?: (() => Promise<boolean>) | undefined
}

/** A persona that was replaced, with the backup of its former state. */
export interface Replaced {
  readonly memories: number
  readonly row: BackupRow
}

/**
 * Replaces a persona with a backup of exactly the state that is replaced: the write is staged first, which takes the longest,
 * then the backup is written, and the publication expects the backup's revision. Throws `busy` when others change the
 * persona during every try; then nothing was changed.
 */
export async function replacePersona(
  parts: ReplaceParts,
  persona: Persona,
  reason: BackupReason,
  write: PersonaWrite,
  signal: AbortSignal | undefined,
): Promise<Replaced> {
  const staged = await parts.archive.stage(write, signal)
  try {
    return await untilUnchanged(async () => {
      const backup = await writePendingBackup(parts, persona, reason, signal)
      const outcome = await publishWith(backup, staged, parts, signal)
      if (outcome.kind !== 'done') return 'changed'
      await parts.files.publish(backup.row.backup_id)
      return { memories: outcome.memories, row: backup.row }
    })
  } finally {
    await staged.discard()
  }
}

/** Unless the write is done, the file of its backup is removed. */
async function publishWith(
  { row, revision }: PendingBackup,
  staged: StagedPersona,
  { files, isValid }: ReplaceParts,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  let outcome: Outcome | undefined
  try {
    signal?.throwIfAborted()
    if (isValid && !(await isValid()))
      throw new AppError('busy', 'The backup was changed while it was restored: try again', { retryAfter: 5 })
    outcome = await staged.publish({ expected: revision, backup: row })
    return outcome
  } finally {
    if (outcome?.kind !== 'done') await files.discard(row.backup_id)
  }
}
