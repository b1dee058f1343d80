import { rmSync, statSync } from 'node:fs'
import { AppError } from '../../errors.ts'
import { type AdaptationRecord, type LogHead, seal } from '../adaptation/log.ts'
import { advance } from '../adaptation/replay.ts'
import { algorithm } from '../adaptation/rules.ts'
import type { Learned } from '../adaptation/state.ts'
import { personaOfCard, unusedOf } from '../card/card.ts'
import { type CardFile, readCardFile } from '../card/card-file.ts'
import type { Scope } from '../memory/memory.ts'
import { type Persona, type Personas, personaInput } from '../persona.ts'
import { isSmall, type PersonaArchive, type PersonaWrite } from './archive.ts'
import type { Backups } from './backup.ts'
import { type ExportedFile, type ExportRequest, exportedFile, type Sums } from './exported-file.ts'
import {
  incomingLog,
  incomingMemories,
  incomingPersona,
  isPortrait,
  largestCard,
  unchanged,
  weightOf,
} from './import.ts'
import { lost, raised, refuseTooMany, withMemoryLimit } from './memory-limits.ts'
import { type PlainPackage, unsealPackage } from './open-file.ts'
import type { Scratch } from './scratch.ts'
import type { PackageSource } from './source.ts'
import { refused, type VerifyResult } from './verify.ts'
import { type VerifiedPackage, verifyInThisProcess, verifyPackage } from './verify-file.ts'
import type { PackageWriter } from './write-package.ts'
import { type ImportMode, type ImportRequest, isSmallPackage, type WriteInChild } from './write-task.ts'

export interface Imported {
  readonly persona_id: string
  readonly mode: ImportMode
  readonly dry_run: boolean
  readonly imported: { readonly memories: number; readonly adaptations: number }
  /** Memories of the package that the persona had already. */
  readonly duplicates: number
  /** The backup of what was replaced. */
  readonly backup_id?: string
  readonly warnings: readonly string[]
}

/** Whole personas, out of this installation and into it. An aborted `signal` stops the work; then nothing is left of it. */
export interface PersonaPackages {
  export(persona: Persona, request: ExportRequest, signal?: AbortSignal): Promise<ExportedFile>
  /** Takes a package or character card in as this owner's, whoever it says it was. Throws `invalid` naming every problem; then nothing was written. */
  import(owner: string, path: string, request: ImportRequest, signal?: AbortSignal): Promise<Imported>
  /** Judges a package in a file. */
  verify(path: string, passphrase?: string, signal?: AbortSignal): Promise<VerifyResult>
  /** Judges a persona as it is stored: its records, and whether its state is what its log gives. */
  verifyStored(persona: Persona, signal?: AbortSignal): Promise<VerifyResult>
}

export interface PersonaPackagesParts {
  readonly archive: PersonaArchive
  readonly packager: PackageWriter
  readonly backups: Pick<Backups, 'taking'>
  readonly personas: Pick<Personas, 'get'>
  readonly scratch: Scratch
  readonly now: () => number
  readonly newId: () => string
  /** The chat model for a persona that comes without one. */
  readonly defaultModel: () => string | undefined
  /** Takes in what would hold others up; without it everything is done in this process. */
  readonly runInChild?: WriteInChild
  /** How much work a guess at a passphrase is, as a power of two; what age itself uses unless it is said. */
  readonly workFactor?: number
}

/** What an import is about, beside the package itself. */
interface AboutImport {
  readonly verdict: VerifyResult
  readonly request: ImportRequest
  /** Bytes that it will take on the disk. */
  readonly weight: number
}

export function createPersonaPackages(parts: PersonaPackagesParts): PersonaPackages {
  const { archive, packager, backups, personas, scratch, now, newId } = parts
  return { export: exportPersona, import: importFile, verify, verifyStored }

  async function exportPersona(persona: Persona, request: ExportRequest, signal?: AbortSignal): Promise<ExportedFile> {
    const { passphrase } = request
    const isCard = request.format.startsWith('card')
    if (passphrase !== undefined && isCard)
      throw new AppError('invalid', 'A character card is made to be passed around and is not encrypted')
    const path = scratch.path()
    try {
      const sums = isCard
        ? await writeCard(persona, path, request, signal)
        : await writePackage(persona, path, request, signal)
      if (!sums) throw gone(persona)
      if (passphrase === undefined) return exportedFile(path, persona, request, sums)
      const { encryptFile } = await import('../../formats/age-file.ts')
      await encryptFile(path, `${path}.age`, passphrase, parts.workFactor, signal)
      rmSync(path)
      return exportedFile(`${path}.age`, persona, request, sums)
    } catch (reason) {
      for (const each of [path, `${path}.age`]) rmSync(each, { force: true })
      throw reason
    }
  }

  async function writeCard(
    persona: Persona,
    path: string,
    { format }: ExportRequest,
    signal: AbortSignal | undefined,
  ): Promise<Sums | undefined> {
    const form = format === 'card_png' ? 'card_png' : 'card'
    return (await packager.card(scopeOf(persona), path, form, signal)) ? {} : undefined
  }

  function writePackage(
    persona: Persona,
    path: string,
    { format, embeddings }: ExportRequest,
    signal: AbortSignal | undefined,
  ): Promise<Sums | undefined> {
    const form = format === 'container' ? 'container' : 'document'
    return packager.write(scopeOf(persona), { path, form, embeddings, exportedAt: now() }, signal)
  }

  async function verify(path: string, passphrase?: string, signal?: AbortSignal): Promise<VerifyResult> {
    let plain: PlainPackage
    try {
      plain = await unsealPackage(path, scratch.path(), passphrase, signal)
    } catch (reason) {
      return refused(reason)
    }
    try {
      return (await verifyPackage(plain, signal)).verdict
    } finally {
      await plain.discard()
    }
  }

  async function verifyStored(persona: Persona, signal?: AbortSignal): Promise<VerifyResult> {
    const verdict = await packager.verify(scopeOf(persona), signal)
    if (!verdict) throw gone(persona)
    return verdict
  }

  async function importFile(
    owner: string,
    path: string,
    request: ImportRequest,
    signal?: AbortSignal,
  ): Promise<Imported> {
    const known = await named(owner, request)
    const plain = await unsealPackage(path, scratch.path(), request.passphrase, signal)
    try {
      if (parts.runInChild && !isSmallImport(plain, request, known))
        return await importElsewhere(parts.runInChild, owner, plain, { ...request, persona: known?.id }, signal)
      const card = readCardFile(plain.path)
      if (card) return await importCard(owner, card, request)
      const judge = parts.runInChild ? verifyPackage(plain, signal) : verifyInThisProcess(plain)
      return await importVerified(owner, plain, await judge, request, signal)
    } finally {
      await plain.discard()
    }
  }

  /** The persona that the request names, if it is about one. */
  async function named(owner: string, { mode, persona }: ImportRequest): Promise<Persona | undefined> {
    return mode === 'create' || persona === undefined ? undefined : personas.get(owner, persona)
  }

  function isSmallImport(plain: PlainPackage, { mode }: ImportRequest, known: Persona | undefined): boolean {
    if (!isSmallPackage(plain)) return false
    return mode === 'create' || (known !== undefined && isSmall(archive.extent(scopeOf(known))))
  }

  async function importElsewhere(
    runInChild: WriteInChild,
    owner: string,
    { path }: PlainPackage,
    { passphrase: _passphrase, ...request }: ImportRequest,
    signal: AbortSignal | undefined,
  ): Promise<Imported> {
    const model = parts.defaultModel()
    const task = {
      action: 'import',
      owner,
      path,
      request,
      now: now(),
      ...(model !== undefined && { defaultModel: model }),
    }
    return (await runInChild(task as Parameters<WriteInChild>[0], signal)) as Imported
  }

  async function importVerified(
    owner: string,
    { path }: PlainPackage,
    { verdict, open }: VerifiedPackage,
    request: ImportRequest,
    signal: AbortSignal | undefined,
  ): Promise<Imported> {
    if (!verdict.valid) throw unsound(verdict)
    const source = await open()
    try {
      const about = { verdict, request, weight: weightOf(verdict, statSync(path).size) }
      return await importPackage(owner, unchanged(source, verdict.content_hash), about, signal)
    } finally {
      source.close()
    }
  }

  async function importPackage(
    owner: string,
    source: PackageSource,
    about: AboutImport,
    signal: AbortSignal | undefined,
  ): Promise<Imported> {
    const { verdict, request, weight } = about
    const { head } = source
    const lineage = {
      persona_id: head.persona['id'],
      checksum: verdict.expected,
      content_hash: verdict.content_hash,
      exported_at: head.metadata['exported_at'],
      imported_at: now(),
    }
    const { input, extra, passthrough } = incomingPersona(head, lineage)
    if (request.mode === 'merge') return merge(await target(owner, head.persona['id'], request), source, about, signal)
    const replaced = request.mode === 'replace' ? await target(owner, head.persona['id'], request) : undefined
    const persona: Persona = {
      ...withMemoryLimit(input, verdict.memories),
      extra,
      id: replaced?.id ?? newId(),
      user_id: owner,
      created_at: replaced?.created_at ?? now(),
      updated_at: now(),
    }
    const log = await incomingLog(source, scopeOf(persona), { now: now(), newId, signal })
    const arrival: PersonaWrite = {
      persona,
      how: replaced ? 'replace' : 'create',
      memories: () => incomingMemories(source, newId),
      count: verdict.memories,
      weight,
      log: () => log,
      passthrough,
      dryRun: request.dry_run,
    }
    const taken =
      replaced && !request.dry_run
        ? await backups.taking(
            replaced,
            'before_import',
            (backup) => archive.write({ ...arrival, backup }, signal),
            signal,
          )
        : undefined
    const { memories } = taken?.result ?? (await archive.write(arrival, signal))
    return {
      ...outcome(persona, request, { memories, adaptations: log.records.length }, verdict.memories - memories),
      warnings: [...raised(input, persona), ...lost(head.state, log.learned)],
      ...(taken && { backup_id: taken.row.backup_id }),
    }
  }

  /** Adds what is new; what the persona has learned here stays as it is, and one record says what came. */
  async function merge(
    persona: Persona,
    source: PackageSource,
    { verdict, request, weight }: AboutImport,
    signal: AbortSignal | undefined,
  ): Promise<Imported> {
    const about = { content_hash: verdict.content_hash, memories: verdict.memories, adaptations: verdict.adaptations }
    const arrival: PersonaWrite = {
      persona: { ...persona, updated_at: now() },
      how: 'merge',
      memories: () => incomingMemories(source, newId),
      count: verdict.memories,
      weight,
      log: (head, learned) => noted(persona, head, learned, about),
      passthrough: {},
      admit: (memories) => refuseTooMany(persona, memories),
      dryRun: request.dry_run,
    }
    const { memories } = await archive.write(arrival, signal)
    return outcome(persona, request, { memories, adaptations: 0 }, verdict.memories - memories)
  }

  function noted(persona: Persona, head: LogHead, learned: Learned, about: Readonly<Record<string, unknown>>) {
    const fields = { id: newId(), persona_id: persona.id, user_id: persona.user_id, timestamp: now(), changes: [] }
    const kind = {
      adaptation_type: 'import_merge',
      trigger_event: 'persona_import',
      actor: 'system',
      status: 'applied',
    } as const
    const record: AdaptationRecord = seal({ ...fields, ...kind, algorithm, inputs: { kind: 'note', about } }, head)
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
    const parsed = personaInput.safeParse({ ...described, ...(model !== undefined && { model }) })
    if (!parsed.success) {
      const details = parsed.error.issues.map((issue) => `${issue.path.map(String).join('.')}: ${issue.message}`)
      if (model === undefined) details.unshift('A card names no chat model: say which (--model, ?model=)')
      throw new AppError('invalid', 'The character card cannot be used as a persona', { details })
    }
    const persona: Persona = { ...parsed.data, id: newId(), user_id: owner, created_at: now(), updated_at: now() }
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
    return { ...outcome(persona, request, { memories: 0, adaptations: 0 }, 0), warnings: unusedOf(card) }
  }

  /** The persona that an import is about: the one that is named, or the owner's own of the id in the package. */
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

function scopeOf(persona: Persona): Scope {
  return { personaId: persona.id, userId: persona.user_id }
}

function gone(persona: Persona): AppError {
  return new AppError('not_found', `The persona "${persona.id}" was removed meanwhile`)
}

function unsound({ kind, problems }: VerifyResult): AppError {
  const said = {
    damaged: 'is damaged',
    unsupported: 'cannot be read here',
    not_authenticated: 'cannot be authenticated',
  }
  // What a file is instead of a package is all there is to say of it.
  const [only = ''] = problems
  if (kind === 'unsupported' && problems.length === 1)
    return new AppError('invalid', `${only.replace(/[.;]$/, '')}; nothing was imported`, { details: problems })
  return new AppError('invalid', `The package ${said[kind ?? 'damaged']}; nothing was imported`, { details: problems })
}

function outcome(
  persona: Persona,
  { mode, dry_run }: ImportRequest,
  imported: Imported['imported'],
  duplicates: number,
): Imported {
  return { persona_id: persona.id, mode, dry_run, imported, duplicates, warnings: [] }
}
