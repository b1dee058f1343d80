import { writeFileSync } from 'node:fs'
import { AppError } from '../../errors.ts'
import { createFile } from '../../formats/formats.ts'
import type { Scope } from '../memory/memory.ts'
import { isSmall, type PersonaArchive, type PersonaSnapshot, type Revision, readSnapshot } from './archive.ts'
import { packageContent } from './export.ts'
import { cardBytes } from './exported-file.ts'
import type { PackageForm, WrittenPackage } from './format.ts'
import type { VerifyResult } from './outcomes.ts'
import { verifyStored } from './verify-stored.ts'

/** Reads a whole persona, to write or verify it. Resolves with undefined when that user has no such persona. */
export type PackageWriter = ReturnType<typeof createPackageWriter>

export interface PackageRequest {
  readonly path: string
  readonly form: PackageForm
  readonly embeddings: boolean
  /** Milliseconds since 1970 UTC. */
  readonly exportedAt: number
}

/** A written package, and the revision of the persona that it shows. */
export interface WrittenPersona extends WrittenPackage {
  readonly revision: Revision
}

/** A call of `PackageWriter` as plain data, for this process or for a child that opens the same database. */
export type PackageWriterTask =
  | { readonly action: 'write'; readonly scope: Scope; readonly request: PackageRequest; readonly producer: string }
  | { readonly action: 'verify'; readonly scope: Scope; readonly producer: string }
  | { readonly action: 'card'; readonly scope: Scope; readonly path: string; readonly format: 'card' | 'card_png' }
  | { readonly action: 'lines'; readonly scope: Scope; readonly path: string }

export interface PackageWriterParts {
  readonly archive: PersonaArchive
  /** The writing program, such as `aichat 1.2.3`. */
  readonly producer: string
  /** Runs `performTask` in a child process, for a persona that takes seconds. */
  readonly runInChild: (task: PackageWriterTask, signal?: AbortSignal) => Promise<unknown>
}

/** Writes small personas in this process and large ones in a child process, so that no request waits for them. */
export function createPackageWriter({ archive, producer, runInChild }: PackageWriterParts) {
  const perform = async <T>(task: PackageWriterTask, signal?: AbortSignal) =>
    ((isSmall(await archive.extent(task.scope)) ? await performTask(archive, task) : await runInChild(task, signal)) ??
      undefined) as T | undefined
  return {
    /** Writes its package to a new file; after a failure there is none. */
    write: (scope: Scope, request: PackageRequest, signal?: AbortSignal) =>
      perform<WrittenPersona>({ action: 'write', scope, request, producer }, signal),
    /** Verifies it as it is stored. */
    verify: (scope: Scope, signal?: AbortSignal) =>
      perform<VerifyResult>({ action: 'verify', scope, producer }, signal),
    /** Writes its character card to a new file. */
    card: (scope: Scope, path: string, format: 'card' | 'card_png', signal?: AbortSignal) =>
      perform<true>({ action: 'card', scope, path, format }, signal),
    /** Writes its memories to a new file, as JSON lines. */
    lines: (scope: Scope, path: string, signal?: AbortSignal) =>
      perform<true>({ action: 'lines', scope, path }, signal),
  }
}

/** Performs a task in this process, on one snapshot; null when there is no such persona. */
export async function performTask(
  archive: Pick<PersonaArchive, 'snapshot'>,
  task: PackageWriterTask,
): Promise<WrittenPersona | VerifyResult | true | null> {
  const perform = await performerOf(task)
  return (await readSnapshot<WrittenPersona | VerifyResult | true>(archive, task.scope, perform)) ?? null
}

/** Loads the writer of the requested form before the snapshot is opened. */
async function performerOf(
  task: PackageWriterTask,
): Promise<(snapshot: PersonaSnapshot) => Promise<WrittenPersona | VerifyResult | true>> {
  if (task.action === 'card')
    return async (snapshot) => {
      writeFileSync(task.path, await cardBytes(snapshot, task.format), { flag: 'wx', mode: 0o600 })
      return true
    }
  if (task.action === 'lines') return (snapshot) => writeLines(task.path, snapshot)
  const { producer } = task
  if (task.action === 'verify')
    return (snapshot) => verifyStored(snapshot, packageContent(snapshot, { exportedAt: 0, producer, embeddings: true }))
  const { path, form, embeddings, exportedAt } = task.request
  const write =
    form === 'container'
      ? (await import('./zip-writer.ts')).writeZipPackage
      : (await import('./json-writer.ts')).writeJsonPackage
  return async (snapshot) => ({
    ...(await write(path, packageContent(snapshot, { exportedAt, producer, embeddings }))),
    revision: snapshot.revision,
  })
}

/** Writes each memory as a line that an import reads again: see personas/arrival/json-lines.ts. */
async function writeLines(path: string, { memories }: Pick<PersonaSnapshot, 'memories'>): Promise<true> {
  const file = createFile(path)
  try {
    for await (const batch of memories())
      for (const { entry } of batch) {
        const { content, timestamp, importance_score, metadata } = entry
        file.write(Buffer.from(`${JSON.stringify({ content, timestamp, importance_score, metadata })}\n`))
      }
    file.close({ flush: false })
    return true
  } catch (reason) {
    file.discard()
    throw reason
  }
}

/** The error of a persona that was removed between its lookup and its reading. */
export function removedMeanwhile(personaId: string): AppError {
  return new AppError('not_found', `Persona "${personaId}" not found: it was removed meanwhile`)
}
