import { AppError } from '../../errors.ts'
import type { Persona } from '../persona.ts'
import { memoryDigest, type Profile } from '../profile/profile.ts'
import type { ProfileLine } from '../profile-line.ts'
import type { PersonaWrite } from './archive.ts'
import { restoredLog } from './import-log.ts'
import { incomingMemories } from './import-memories.ts'
import { incomingPersona } from './import-persona.ts'
import { checksumsBefore } from './metadata.ts'
import type { BackupRow } from './outcomes.ts'
import { diskBytes } from './package-size.ts'
import type { PackageSource } from './source.ts'
import { openForImport } from './verify-file.ts'

/**
 * Opens a backup. Throws `invalid` when its file is gone, or changed since it was made. One that was rewritten to forget
 * memories, by a process that ended before it changed the row, names the checksum of the row as an earlier one of its own.
 */
export async function openBackup({ backup_id, checksum }: BackupRow, path: string | undefined): Promise<PackageSource> {
  if (path === undefined)
    throw new AppError('invalid', `The file of the backup ${backup_id} is gone; nothing was changed`)
  const { result, source } = await openForImport({ path, kind: 'zip' })
  if (source && (result.actual === checksum || checksumsBefore(source.head.metadata).includes(checksum))) return source
  source?.close()
  const details = source ? ['its checksum is not the one that was noted when it was made'] : result.problems
  throw new AppError('invalid', `The backup ${backup_id} is damaged; nothing was changed`, { details })
}

/** The write that sets a persona to an opened backup of it, ids included; `now` in milliseconds since 1970 UTC. */
export async function restoringWrite(
  persona: Persona,
  source: PackageSource,
  { memories, bytes }: BackupRow,
  now: number,
  signal: AbortSignal | undefined,
): Promise<PersonaWrite> {
  const { input, extra, passthrough, profile } = incomingPersona(source.head, {})
  const { lineage: _step, ...fields } = passthrough
  const { lineage } = source.head.metadata
  const { id, user_id, created_at, mcp_servers } = persona
  return {
    persona: { ...input, extra, ...(mcp_servers && { mcp_servers }), id, user_id, created_at, updated_at: now },
    how: 'replace',
    memories: () => incomingMemories(source, undefined),
    count: memories,
    weight: diskBytes(source.form, bytes),
    log: await restoredLog(source, signal),
    // A restore adds no step to the lineage.
    passthrough: { ...fields, ...(Array.isArray(lineage) && { lineage }) },
    ...(profile && { profile: withSources(profile, source) }),
  }
}

/** The profile with the ids of the memories that its lines come from, which a package names by their texts. */
function withSources(profile: Profile, source: PackageSource): Profile {
  const wanted = new Set([...profile.lines, ...profile.history].map((line) => line.memory_digest))
  wanted.delete(undefined)
  if (wanted.size === 0) return profile
  const ids = new Map<string | undefined, string>()
  for (const { fields } of source.memories()) {
    const digest = memoryDigest(String(fields['content']))
    if (wanted.has(digest)) ids.set(digest, String(fields['id']))
  }
  const linked = (line: ProfileLine) => {
    const id = ids.get(line.memory_digest)
    return id === undefined ? line : { ...line, memory_id: id }
  }
  return { lines: profile.lines.map(linked), history: profile.history.map(linked) }
}
