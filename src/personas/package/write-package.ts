import { writeFileSync } from 'node:fs'
import type { Scope } from '../memory/memory.ts'
import { type ArchivedPersona, isSmall, type PersonaArchive } from './archive.ts'
import { packageContent } from './export.ts'
import { cardBytes } from './exported-file.ts'
import type { WrittenPackage } from './format.ts'
import type { VerifyResult } from './verify.ts'
import { verifyStored } from './verify-stored.ts'

/** Reads a whole persona, for a package or for a verdict. Undefined when that user has no such persona. */
export interface PackageWriter {
  /** Writes its package to a new file; after a failure there is none. */
  write(scope: Scope, request: PackageRequest, signal?: AbortSignal): Promise<PackagedPersona | undefined>
  /** Judges it as it is stored. */
  verify(scope: Scope, signal?: AbortSignal): Promise<VerifyResult | undefined>
  /** Writes its character card to a new file. False when there is no such persona. */
  card(scope: Scope, path: string, format: 'card' | 'card_png', signal?: AbortSignal): Promise<boolean>
}

export interface PackageRequest {
  readonly path: string
  readonly form: 'document' | 'container'
  readonly embeddings: boolean
  /** Milliseconds since 1970 UTC. */
  readonly exportedAt: number
}

/** What was written, and the fingerprint of the persona that it was written of. */
export interface PackagedPersona extends WrittenPackage {
  readonly fingerprint: string
}

/** One of these as plain data, to be done here or in a process that has the database open too. */
export type PackageWriterTask =
  | { readonly action: 'write'; readonly scope: Scope; readonly request: PackageRequest; readonly producer: string }
  | { readonly action: 'verify'; readonly scope: Scope; readonly producer: string }
  | { readonly action: 'card'; readonly scope: Scope; readonly path: string; readonly format: 'card' | 'card_png' }

export interface PackageWriterParts {
  readonly archive: PersonaArchive
  /** The program that writes, such as `aichat 1.2.3`. */
  readonly producer: string
  /** Does a task in a process of its own: the same as `performTask`, for a persona that takes seconds. */
  readonly runInChild: (task: PackageWriterTask, signal?: AbortSignal) => Promise<unknown>
}

/** Packages small personas here, and large ones where nobody has to wait for it. */
export function createPackageWriter({ archive, producer, runInChild }: PackageWriterParts): PackageWriter {
  const perform = async (task: PackageWriterTask, signal?: AbortSignal) =>
    (isSmall(archive.extent(task.scope)) ? await performTask(archive, task) : await runInChild(task, signal)) ??
    undefined
  return {
    write: async (scope, request, signal) =>
      (await perform({ action: 'write', scope, request, producer }, signal)) as PackagedPersona | undefined,
    verify: async (scope, signal) =>
      (await perform({ action: 'verify', scope, producer }, signal)) as VerifyResult | undefined,
    card: async (scope, path, format, signal) =>
      (await perform({ action: 'card', scope, path, format }, signal)) === true,
  }
}

/** Does a task in this process, in one consistent view of the database; null when there is no such persona. */
export async function performTask(
  archive: Pick<PersonaArchive, 'read'>,
  task: PackageWriterTask,
): Promise<PackagedPersona | VerifyResult | true | null> {
  const { scope } = task
  if (task.action === 'card') {
    const { path, format } = task
    const written = await archive.read(scope, (archived) => {
      writeFileSync(path, cardBytes(archived, format), { flag: 'wx', mode: 0o600 })
      return true as const
    })
    return written ?? null
  }
  const { producer } = task
  if (task.action === 'verify') {
    const everything = { exportedAt: 0, producer, embeddings: true }
    const verdict = await archive.read(scope, (archived) =>
      verifyStored(archived, packageContent(archived, everything)),
    )
    return verdict ?? null
  }
  const write = await writerOf(task.request)
  return (await archive.read(scope, (archived) => write(archived, producer))) ?? null
}

/** What writes the form; each is loaded when it is asked for. */
async function writerOf(
  request: PackageRequest,
): Promise<(archived: ArchivedPersona, producer: string) => PackagedPersona> {
  const write =
    request.form === 'container'
      ? (await import('./zip-writer.ts')).writeContainer
      : (await import('./json-writer.ts')).writeDocument
  return (archived, producer) => packaged(archived, request, producer, write)
}

/** Writes a persona that was read already. */
export function packaged(
  archived: ArchivedPersona,
  { path, embeddings, exportedAt }: PackageRequest,
  producer: string,
  write: (path: string, content: ReturnType<typeof packageContent>) => WrittenPackage,
): PackagedPersona {
  const written = write(path, packageContent(archived, { exportedAt, producer, embeddings }))
  return { ...written, fingerprint: archived.fingerprint() }
}
