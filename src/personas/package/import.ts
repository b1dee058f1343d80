import { statSync } from 'node:fs'
import { AppError } from '../../errors.ts'
import { validate } from '../../formats/schema-problems.ts'
import { type AdaptationRecord, chainRecord, type LogHead } from '../adaptation/log.ts'
import { advance } from '../adaptation/replay.ts'
import { algorithm } from '../adaptation/rules.ts'
import type { Learned } from '../adaptation/state.ts'
import { personaOfCard, unusedOf } from '../card/card.ts'
import { type CardFile, readCardFile } from '../card/card-file.ts'
import type { Fields } from '../fields.ts'
import { type Persona, type Personas, personaInput, scopeOf } from '../persona.ts'
import { isSmall, type PersonaArchive, type PersonaWrite } from './archive.ts'
import type { Backups } from './backup.ts'
import { incomingLog } from './import-log.ts'
import { incomingMemories } from './import-memories.ts'
import { incomingPersona, isPortrait, largestCard } from './import-persona.ts'
import { raisedLimitWarnings, refuseTooMany, truncationWarnings, withMemoryLimit } from './memory-limits.ts'
import { diskBytes, isSmallPackage } from './package-size.ts'
import type { Scratch } from './scratch.ts'
import type { PackageSource } from './source.ts'
import type { VerifyResult } from './verify.ts'
import { decryptPackage, openForImport, type PlainPackage } from './verify-file.ts'
import type { ImportMode, ImportRequest, WriteInChild } from './write-task.ts'

export interface Imported {
  readonly persona_id: string
  readonly mode: ImportMode
  readonly dry_run: boolean
  readonly imported: { readonly memories: number; readonly adaptations: number }
  /** Memories of the package that the persona had already. */
  readonly duplicates: number
  /** The backup of the replaced persona. */
  readonly backup_id?: string
  readonly warnings: readonly string[]
}

export interface ImportParts {
  readonly archive: PersonaArchive
  readonly backups: Pick<Backups, 'replaceWithBackup'>
  readonly personas: Pick<Personas, 'get'>
  readonly scratch: Scratch
  readonly now: () => number
  readonly newId: () => string
  /** The chat model for a character card that names none. */
  readonly defaultModel: () => string | undefined
  /** Imports large packages in a child process; without it everything is done in this process. */
  readonly runInChild?: WriteInChild
}

/**
 * Imports a package or character card as a persona of `owner`; the owner that the file names is ignored. Throws `invalid`
 * naming every problem; then nothing was written.
 */
export type Import = (owner: string, path: string, request: ImportRequest, signal?: AbortSignal) => Promise<Imported>

/** A package that was verified, and the request to import it. */
interface PackageImport {
  readonly owner: string
  readonly request: ImportRequest
  readonly source: PackageSource
  readonly result: VerifyResult
  /** Bytes that its memories take on the disk. */
  readonly weight: number
  readonly signal: AbortSignal | undefined
}

export function createImport(parts: ImportParts): Import {
  const { archive, backups, personas, scratch, now, newId } = parts

  return async (owner, path, request, signal) => {
    const named = await namedPersona(owner, request)
    const plain = await decryptPackage(path, scratch, request.passphrase, signal)
    try {
      if (parts.runInChild && !isQuick(plain, request, named))
        return await importInChild(parts.runInChild, owner, plain.path, { ...request, persona: named?.id }, signal)
      const { result, source } = await openForImport(plain)
      if (!source) {
        const card = result.kind === 'unsupported' ? readCardFile(plain.path) : undefined
        if (card) return await importCard(owner, card, request)
        throw invalidPackage(result)
      }
      try {
        const weight = diskBytes(result.form, statSync(plain.path).size)
        return await importPackage({ owner, request, source, result, weight, signal })
      } finally {
        source.close()
      }
    } finally {
      await plain.discard()
    }
  }

  async function namedPersona(owner: string, { mode, persona }: ImportRequest): Promise<Persona | undefined> {
    return mode === 'create' || persona === undefined ? undefined : personas.get(owner, persona)
  }

  function isQuick(plain: PlainPackage, { mode }: ImportRequest, named: Persona | undefined): boolean {
    if (!isSmallPackage(plain)) return false
    return mode === 'create' || (named !== undefined && isSmall(archive.extent(scopeOf(named))))
  }

  async function importInChild(
    runInChild: WriteInChild,
    owner: string,
    path: string,
    { passphrase: _passphrase, ...request }: ImportRequest,
    signal: AbortSignal | undefined,
  ): Promise<Imported> {
    const model = parts.defaultModel()
    const defaultModel = model === undefined ? {} : { defaultModel: model }
    const task = { action: 'import', owner, path, request, now: now(), ...defaultModel } as const
    return (await runInChild(task, signal)) as Imported
  }

  async function importPackage(about: PackageImport): Promise<Imported> {
    const { owner, request, source, result, weight, signal } = about
    const { head } = source
    const lineage = {
      persona_id: head.persona['id'],
      checksum: result.expected,
      content_hash: result.content_hash,
      exported_at: head.metadata['exported_at'],
      imported_at: now(),
    }
    const { input, extra, passthrough } = incomingPersona(head, lineage)
    if (request.mode === 'merge') return merge(await target(owner, head.persona['id'], request), about)
    const replaced = request.mode === 'replace' ? await target(owner, head.persona['id'], request) : undefined
    const persona: Persona = {
      ...withMemoryLimit(input, result.memories),
      extra,
      id: replaced?.id ?? newId(),
      user_id: owner,
      created_at: replaced?.created_at ?? now(),
      updated_at: now(),
    }
    const log = await incomingLog(source, scopeOf(persona), { now: now(), newId, signal })
    const write: PersonaWrite = {
      persona,
      how: replaced ? 'replace' : 'create',
      memories: () => incomingMemories(source, newId),
      count: result.memories,
      weight,
      log: () => log,
      passthrough,
      dryRun: request.dry_run,
    }
    const backedUp =
      replaced && !request.dry_run
        ? await backups.replaceWithBackup(
            replaced,
            'before_import',
            (backup) => archive.write({ ...write, backup }, signal),
            signal,
          )
        : undefined
    const { memories } = backedUp?.result ?? (await archive.write(write, signal))
    return {
      ...imported(persona, request, { memories, adaptations: log.records.length }, result.memories - memories),
      warnings: [...raisedLimitWarnings(input, persona), ...truncationWarnings(head.state, log.learned)],
      ...(backedUp && { backup_id: backedUp.row.backup_id }),
    }
  }

  /** Adds new memories; the learned state stays as it is, and one record of the log notes the import. */
  async function merge(
    persona: Persona,
    { source, result, request, weight, signal }: PackageImport,
  ): Promise<Imported> {
    const { content_hash, memories: count, adaptations } = result
    const write: PersonaWrite = {
      persona: { ...persona, updated_at: now() },
      how: 'merge',
      memories: () => incomingMemories(source, newId),
      count,
      weight,
      log: (head, learned) => noteMerge(persona, head, learned, { content_hash, memories: count, adaptations }),
      passthrough: {},
      admit: (memories) => refuseTooMany(persona, memories),
      dryRun: request.dry_run,
    }
    const { memories } = await archive.write(write, signal)
    return imported(persona, request, { memories, adaptations: 0 }, count - memories)
  }

  function noteMerge(persona: Persona, head: LogHead, learned: Learned, about: Fields) {
    const fields = { id: newId(), persona_id: persona.id, user_id: persona.user_id, timestamp: now(), changes: [] }
    const kind = {
      adaptation_type: 'import_merge',
      trigger_event: 'persona_import',
      actor: 'system',
      status: 'applied',
    } as const
    const record: AdaptationRecord = chainRecord(
      { ...fields, ...kind, algorithm, inputs: { kind: 'note', about } },
      head,
    )
    return { records: [record], learned: advance(learned, record).learned }
  }

  async function importCard(owner: string, { card, portrait }: CardFile, request: ImportRequest): Promise<Imported> {
    if (request.mode !== 'create')
      throw new AppError('invalid', 'A character card can only be imported as a new persona')
    if (JSON.stringify(card).length > largestCard || (portrait !== undefined && !isPortrait(portrait)))
      throw new AppError('too_large', 'The character card or its picture is too large to be kept', {
        details: [`A card may have ${largestCard} characters, and a picture 9 MiB`],
      })
    const described = personaOfCard(card)
    const model = request.model ?? described.model ?? parts.defaultModel()
    const valid = validate(personaInput, { ...described, ...(model !== undefined && { model }) })
    if (valid.problems !== undefined) {
      const details = [
        ...(model === undefined ? ['A card names no chat model: name one (--model, ?model=)'] : []),
        ...valid.problems,
      ]
      throw new AppError('invalid', 'The character card gives an invalid persona', { details })
    }
    const persona: Persona = { ...valid.data, id: newId(), user_id: owner, created_at: now(), updated_at: now() }
    await archive.write({
      persona,
      how: 'create',
      memories: () => [],
      count: 0,
      weight: 0,
      log: (_head, learned) => ({ records: [], learned }),
      passthrough: { card, ...(portrait !== undefined && { portrait }) },
      dryRun: request.dry_run,
    })
    return { ...imported(persona, request, { memories: 0, adaptations: 0 }, 0), warnings: unusedOf(card) }
  }

  /** The persona to merge into or replace: the named one, or the owner's persona of the id in the package. */
  async function target(owner: string, id: unknown, { mode, persona }: ImportRequest): Promise<Persona> {
    if (persona !== undefined) return personas.get(owner, persona)
    const own = typeof id === 'string' ? await personas.get(owner, id).catch(() => undefined) : undefined
    if (own) return own
    throw new AppError(
      'invalid',
      `Say which persona to ${mode === 'merge' ? 'merge into' : 'replace'}: the package is of none of yours`,
    )
  }
}

function invalidPackage({ kind, problems }: VerifyResult): AppError {
  const descriptions = {
    damaged: 'is damaged',
    unsupported: 'cannot be read here',
    not_authenticated: 'cannot be authenticated',
  }
  // The one problem of a file that is no package names the file's format: it is the message.
  const [only, ...others] = problems
  if (kind === 'unsupported' && only !== undefined && others.length === 0)
    return new AppError('invalid', `${only.replace(/[.;]$/, '')}; nothing was imported`)
  return new AppError('invalid', `The package ${descriptions[kind ?? 'damaged']}; nothing was imported`, {
    details: problems,
  })
}

function imported(
  persona: Persona,
  { mode, dry_run }: ImportRequest,
  counts: Imported['imported'],
  duplicates: number,
): Imported {
  return { persona_id: persona.id, mode, dry_run, imported: counts, duplicates, warnings: [] }
}
