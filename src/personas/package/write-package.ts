import { writeFileSync } from 'node:fs'
import type { Scope } from '../memory/memory.ts'
import { type ArchivedPersona, isSmall, type PersonaArchive } from './archive.ts'
import { packageContent } from './export.ts'
import { cardBytes } from './exported-file.ts'
import type { WrittenPackage } from './format.ts'
import type { Verdict } from './verify.ts'
import { judgeStored } from './verify-stored.ts'

/** Reads a whole persona, for a package or for a verdict. Undefined when that user has no such persona. */
export interface Packager {
  /** Writes its package to a new file; after a failure there is none. */
  write(scope: Scope, wish: PackageWish, signal?: AbortSignal): Promise<PackagedPersona | undefined>
  /** Judges it as it is stored. */
  judge(scope: Scope, signal?: AbortSignal): Promise<Verdict | undefined>
  /** Writes its character card to a new file. False when there is no such persona. */
  card(scope: Scope, path: string, format: 'card' | 'card_png', signal?: AbortSignal): Promise<boolean>
}

export interface PackageWish {
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
export type PackagerTask =
  | { readonly deed: 'write'; readonly scope: Scope; readonly wish: PackageWish; readonly producer: string }
  | { readonly deed: 'judge'; readonly scope: Scope; readonly producer: string }
  | { readonly deed: 'card'; readonly scope: Scope; readonly path: string; readonly format: 'card' | 'card_png' }

export interface PackagerParts {
  readonly archive: PersonaArchive
  /** The program that writes, such as `aichat 1.2.3`. */
  readonly producer: string
  /** Does a task in a process of its own: the same as `performTask`, for a persona that takes seconds. */
  readonly elsewhere: (task: PackagerTask, signal?: AbortSignal) => Promise<unknown>
}

/** Packages small personas here, and large ones where nobody has to wait for it. */
export function createPackager({ archive, producer, elsewhere }: PackagerParts): Packager {
  const perform = async (task: PackagerTask, signal?: AbortSignal) =>
    (isSmall(archive.extent(task.scope)) ? await performTask(archive, task) : await elsewhere(task, signal)) ??
    undefined
  return {
    write: async (scope, wish, signal) =>
      (await perform({ deed: 'write', scope, wish, producer }, signal)) as PackagedPersona | undefined,
    judge: async (scope, signal) => (await perform({ deed: 'judge', scope, producer }, signal)) as Verdict | undefined,
    card: async (scope, path, format, signal) =>
      (await perform({ deed: 'card', scope, path, format }, signal)) === true,
  }
}

/** Does a task in this process, in one consistent view of the database; null when there is no such persona. */
export async function performTask(
  archive: Pick<PersonaArchive, 'read'>,
  task: PackagerTask,
): Promise<PackagedPersona | Verdict | true | null> {
  const { scope } = task
  if (task.deed === 'card') {
    const { path, format } = task
    const written = await archive.read(scope, (archived) => {
      writeFileSync(path, cardBytes(archived, format), { flag: 'wx', mode: 0o600 })
      return true as const
    })
    return written ?? null
  }
  const { producer } = task
  if (task.deed === 'judge') {
    const everything = { exportedAt: 0, producer, embeddings: true }
    const verdict = await archive.read(scope, (archived) => judgeStored(archived, packageContent(archived, everything)))
    return verdict ?? null
  }
  const write = await writerOf(task.wish)
  return (await archive.read(scope, (archived) => write(archived, producer))) ?? null
}

/** What writes the form; each is loaded when it is asked for. */
async function writerOf(wish: PackageWish): Promise<(archived: ArchivedPersona, producer: string) => PackagedPersona> {
  const write =
    wish.form === 'container'
      ? (await import('./zip-writer.ts')).writeContainer
      : (await import('./json-writer.ts')).writeDocument
  return (archived, producer) => packaged(archived, wish, producer, write)
}

/** Writes a persona that was read already. */
export function packaged(
  archived: ArchivedPersona,
  { path, embeddings, exportedAt }: PackageWish,
  producer: string,
  write: (path: string, content: ReturnType<typeof packageContent>) => WrittenPackage,
): PackagedPersona {
  const written = write(path, packageContent(archived, { exportedAt, producer, embeddings }))
  return { ...written, fingerprint: archived.fingerprint() }
}
