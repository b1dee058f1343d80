import { z } from 'zod'
import { importModes } from './write-task.ts'

/** Whether a package is unchanged since its export, and every problem when it is not. */
export const verification = z.object({
  valid: z.boolean(),
  /** The checksum that the package carries, or null when it carries none. */
  expected: z.string().nullable(),
  /** The computed checksum; null when it could not be computed. */
  actual: z.string().nullable(),
  version: z.string().nullable(),
  /** One sentence for each problem, naming a broken record. Empty when the package is valid. */
  problems: z.array(z.string()).readonly(),
  /** The kind of the problems; null when there are none. */
  kind: z.enum(['damaged', 'unsupported', 'not_authenticated']).nullable(),
  form: z.enum(['document', 'container']).nullable(),
  content_hash: z.string().nullable(),
  memories: z.int(),
  adaptations: z.int(),
})

export type VerifyResult = z.output<typeof verification>

export const importOutcome = z.object({
  /** The format of the file: a package, or that of another program. */
  format: z.enum(['package', 'card', 'letta', 'chatgpt', 'claude', 'jsonl']),
  name: z.string(),
  persona_id: z.string(),
  mode: z.enum(importModes),
  dry_run: z.boolean(),
  imported: z.object({ memories: z.int(), adaptations: z.int() }),
  /** Memories of the package that the persona had already. */
  duplicates: z.int(),
  /** The backup of the replaced persona. */
  backup_id: z.exactOptional(z.string()),
  warnings: z.array(z.string()),
  /** Conversations with memories, of a file of another program. */
  conversations: z.exactOptional(z.int()),
  /** Parts of such a file that were not taken, with the reason and their number. */
  left_out: z.exactOptional(z.array(z.object({ what: z.string(), count: z.int() })).readonly()),
})

export type Imported = z.output<typeof importOutcome>

/** A backup; its package is kept beside, see `BackupFiles`. */
export const backupRow = z.object({
  backup_id: z.string(),
  persona_id: z.string(),
  /** Milliseconds since 1970 UTC. */
  created_at: z.int(),
  /** Requested, or made before a replacement. */
  reason: z.enum(['manual', 'before_restore', 'before_import']),
  checksum: z.string(),
  content_hash: z.string(),
  bytes: z.int(),
  memories: z.int(),
  adaptations: z.int(),
})

export type BackupRow = Readonly<z.output<typeof backupRow>>
export type BackupReason = BackupRow['reason']
