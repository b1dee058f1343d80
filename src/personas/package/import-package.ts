import { randomInt, randomUUID } from 'node:crypto'
import { AppError } from '../../errors.ts'
import { type AdaptationRecord, chainRecord } from '../adaptation/log.ts'
import { advance } from '../adaptation/replay.ts'
import { algorithm } from '../adaptation/rules.ts'
import type { Fields } from '../fields.ts'
import { type Persona, type Personas, scopeOf } from '../persona.ts'
import {
  type LogEnd,
  type Outcome,
  type PersonaArchive,
  type PersonaWrite,
  readSnapshot,
  writeWhole,
} from './archive.ts'
import type { Backups } from './backup.ts'
import { incomingLog } from './import-log.ts'
import { incomingMemories } from './import-memories.ts'
import { incomingPersona } from './import-persona.ts'
import { imported } from './imported.ts'
import {
  mostMemories,
  raisedLimitWarnings,
  tooManyMemories,
  truncationWarnings,
  withMemoryLimit,
} from './memory-limits.ts'
import type { Imported, VerifyResult } from './outcomes.ts'
import type { PackageSource } from './source.ts'
import { untilUnchanged } from './until-unchanged.ts'
import { removedMeanwhile } from './write-package.ts'
import type { ImportRequest } from './write-task.ts'

export interface PackageImportParts {
  readonly archive: PersonaArchive
  readonly backups: Pick<Backups, 'replace'>
  readonly personas: Pick<Personas, 'get'>
  readonly now: () => number
  readonly newId: () => string
}

/** A package that was verified, and the request to import it. */
export interface PackageImport {
  readonly owner: string
  readonly request: ImportRequest
  readonly source: PackageSource
  readonly result: VerifyResult
  /** Bytes that its memories take on the disk. */
  readonly weight: number
  readonly signal: AbortSignal | undefined
}

/**
 * Imports a verified package as a new persona of `owner`, or into the persona that the request means. Throws `invalid` where
 * the request means none, or where the persona would have too many memories; then nothing was written.
 */
export async function importPackage(parts: PackageImportParts, about: PackageImport): Promise<Imported> {
  const { owner, request, source } = about
  const target = () => targetOf(parts.personas, owner, source.head.persona['id'], request)
  if (request.mode === 'merge') return merge(parts, await target(), about)
  return writeAnew(parts, request.mode === 'replace' ? await target() : undefined, about)
}

/** Writes the whole package as a new persona, or in the place of one. */
async function writeAnew(
  parts: PackageImportParts,
  replaced: Persona | undefined,
  { owner, request, source, result, weight, signal }: PackageImport,
): Promise<Imported> {
  const { archive, now, newId } = parts
  const { head } = source
  const lineage = {
    persona_id: head.persona['id'],
    checksum: result.expected,
    content_hash: result.content_hash,
    exported_at: head.metadata['exported_at'],
    imported_at: now(),
  }
  const { input, extra, passthrough, profile } = incomingPersona(head, lineage)
  const persona: Persona = {
    ...withMemoryLimit(input, result.memories),
    extra,
    ...(replaced?.mcp_servers && { mcp_servers: replaced.mcp_servers }),
    id: replaced?.id ?? newId(),
    user_id: owner,
    created_at: replaced?.created_at ?? now(),
    updated_at: now(),
  }
  const log = await incomingLog(source, scopeOf(persona), { now: now(), newId, signal })
  const write: PersonaWrite = {
    persona,
    how: replaced ? 'replace' : 'create',
    memories: () => incomingMemories(source, orderedIds(now())),
    count: result.memories,
    weight,
    log,
    passthrough,
    ...(profile && { profile }),
  }
  const backedUp =
    replaced && !request.dry_run ? await parts.backups.replace(replaced, 'before_import', write, signal) : undefined
  const memories =
    backedUp?.memories ??
    memoriesOf(
      persona,
      await (request.dry_run ? archive.dryRun(write, signal) : writeWhole(archive, write, {}, signal)),
    )
  return {
    ...imported(persona, request, { memories, adaptations: log.records.length }, result.memories - memories),
    warnings: [...raisedLimitWarnings(input, persona), ...truncationWarnings(head.state, log.learned)],
    ...(backedUp && { backup_id: backedUp.row.backup_id }),
  }
}

/** Adds the package's memories. */
async function merge(
  parts: PackageImportParts,
  into: Persona,
  { source, result, request, weight, signal }: PackageImport,
): Promise<Imported> {
  const { content_hash, memories: count, adaptations } = result
  const incoming: MergedMemories = {
    memories: () => incomingMemories(source, orderedIds(parts.now())),
    count,
    weight,
    about: { content_hash, memories: count, adaptations },
  }
  const { persona, memories } = await mergeMemories(parts, into, incoming, request, signal)
  return imported(persona, request, { memories, adaptations: 0 }, count - memories)
}

/** Memories that come to a persona, and the fields of the record about it. */
export interface MergedMemories extends Pick<PersonaWrite, 'memories' | 'count' | 'weight'> {
  readonly about: Fields
}

/**
 * Adds new memories to a persona; its learned state stays as it is, and one record of the log notes the import. Resolves
 * with the number of those that were new. Throws `invalid` where the persona would have too many.
 */
export async function mergeMemories(
  parts: Pick<PackageImportParts, 'archive' | 'now' | 'newId'>,
  into: Persona,
  incoming: MergedMemories,
  request: Pick<ImportRequest, 'dry_run'>,
  signal?: AbortSignal,
): Promise<{ readonly persona: Persona; readonly memories: number }> {
  const { archive } = parts
  return untilUnchanged(async () => {
    const before = await readSnapshot(archive, scopeOf(into), async ({ revision, persona, end }) => ({
      revision,
      persona,
      end: await end(),
    }))
    if (!before) throw removedMeanwhile(into.id)
    const write = mergingWrite(parts, before.persona, before.end, incoming)
    const outcome = await (request.dry_run
      ? archive.dryRun(write, signal)
      : writeWhole(archive, write, { expected: before.revision }, signal))
    if (outcome.kind === 'changed') return 'changed'
    return { persona: before.persona, memories: memoriesOf(before.persona, outcome) }
  })
}

function mergingWrite(
  { now, newId }: Pick<PackageImportParts, 'now' | 'newId'>,
  persona: Persona,
  end: LogEnd,
  { memories, count, weight, about }: MergedMemories,
): PersonaWrite {
  const record = noteOfMerge(persona, end, { id: newId(), now: now() }, about)
  return {
    persona: { ...persona, updated_at: now() },
    how: 'merge',
    memories,
    count,
    weight,
    log: { records: [record], learned: advance(end.learned, record).learned },
    passthrough: {},
    maxMemories: mostMemories(persona),
  }
}

function noteOfMerge(
  persona: Persona,
  { head }: LogEnd,
  { id, now }: { readonly id: string; readonly now: number },
  about: Fields,
): AdaptationRecord {
  return chainRecord(
    {
      id,
      persona_id: persona.id,
      user_id: persona.user_id,
      timestamp: now,
      changes: [],
      adaptation_type: 'import_merge',
      trigger_event: 'persona_import',
      actor: 'system',
      status: 'applied',
      algorithm,
      inputs: { kind: 'note', about },
    },
    head,
  )
}

/** The number of new memories. Throws `invalid` where they are too many. */
export function memoriesOf(persona: Persona, outcome: Outcome): number {
  if (outcome.kind === 'too_many') throw tooManyMemories(persona, outcome.memories)
  if (outcome.kind === 'done') return outcome.memories
  throw new AppError('internal', 'A write without an expected revision met another one')
}

/** The persona to merge into or replace: the named one, or the owner's persona of the id in the package. */
async function targetOf(
  personas: Pick<Personas, 'get'>,
  owner: string,
  id: unknown,
  { mode, persona }: ImportRequest,
): Promise<Persona> {
  if (persona !== undefined) return personas.get(owner, persona)
  const own = typeof id === 'string' ? await personas.get(owner, id).catch(() => undefined) : undefined
  if (own) return own
  throw new AppError(
    'invalid',
    `Say which persona to ${mode === 'merge' ? 'merge into' : 'replace'}: the package is of none of yours`,
  )
}

/** Of the bits behind the time so many count: twice as many rows as are ever written at once, from a random start. */
const countBits = 26

/**
 * Ids for many rows that are stored one after the other: UUIDs of version 7 (RFC 9562, 5.7 and 6.2), each greater than the
 * one before. Random ones would each change another page of an index, and a transaction writes every changed page.
 * @param now milliseconds since 1970 UTC
 */
function orderedIds(now: number): () => string {
  const time = now.toString(16).padStart(12, '0')
  const start = `${time.slice(0, 8)}-${time.slice(8)}-7`
  let count = randomInt(2 ** (countBits - 1))
  return () => {
    const next = count++
    const high = (next >>> 14).toString(16).padStart(3, '0')
    const low = (0x8000 | (next & 0x3fff)).toString(16)
    return `${start}${high}-${low}-${randomUUID().slice(24)}`
  }
}
