import { statSync } from 'node:fs'
import { canonicalize, FileError } from '../../formats/formats.ts'
import { isFields } from '../fields.ts'
import { categoryOf, type Forgotten, type Scope, type WipeFilter } from '../memory/memory.ts'
import { packagedWithout } from '../profile/packaged.ts'
import { memoryDigest } from '../profile/profile.ts'
import type { ProfileLine } from '../profile-line.ts'
import { type PersonaArchive, readSnapshot } from './archive.ts'
import type { PackageMemory, WrittenPackage } from './format.ts'
import { metadataRewritten } from './metadata.ts'
import type { BackupRow } from './outcomes.ts'
import { openBackup } from './restore.ts'
import { memoryFields, openZipPackage } from './zip-reader.ts'
import { writeZipPackage } from './zip-writer.ts'

type MemoryFields = PackageMemory['fields']

/** Tells which memories of a backup go. */
export interface Going {
  /** A text that stands in the line of each memory that goes; absent where only the fields tell. */
  readonly texts?: readonly string[]
  has(fields: MemoryFields): Promise<boolean>
  hasLine(line: ProfileLine): boolean
}

export interface GoingParts {
  readonly archive: Pick<PersonaArchive, 'snapshot'>
  /** The text of a memory that the persona has now. */
  readonly contentOf: (scope: Scope, id: string) => Promise<string | undefined>
}

/**
 * The memories of backups that go with those that the persona is about to forget: the same ones, earlier versions of them
 * included; those that say the same, unless the persona has them beside and keeps them; and, by a filter, all that meet it.
 */
export async function goingWith({ archive, contentOf }: GoingParts, scope: Scope, what: Forgotten): Promise<Going> {
  if ('filter' in what && isEverything(what.filter))
    return { has: async () => true, hasLine: ({ memory_digest }) => memory_digest !== undefined }
  const ids = new Set<unknown>('ids' in what ? what.ids : [])
  const contents = new Set<unknown>()
  if ('ids' in what) for (const id of what.ids) contents.add(await contentOf(scope, id))
  else
    await readSnapshot(archive, scope, async (snapshot) => {
      for await (const batch of snapshot.memories())
        for (const { entry } of batch)
          if (meets(entry, what.filter)) {
            ids.add(entry.id)
            contents.add(entry.content)
          }
    })
  contents.delete(undefined)
  const digests = new Set([...contents].map((content) => memoryDigest(content as string)))
  const lines = 'ids' in what ? (what.lines ?? []) : []
  const says = (fields: MemoryFields) => contents.has(fields['content'])
  const isKept = async (id: unknown) => typeof id === 'string' && (await contentOf(scope, id)) !== undefined
  return {
    ...('ids' in what && { texts: [...ids, ...contents].map((text) => canonicalize(text)) }),
    has: async (fields) =>
      ids.has(fields['id']) ||
      ('filter' in what && meets(fields, what.filter)) ||
      (says(fields) && !(await isKept(fields['id']))),
    hasLine: ({ memory_digest = '', text }) => digests.has(memory_digest) || lines.includes(text),
  }
}

/** The memories of a backup that the persona has not any more. */
export async function absentNow({ archive }: Pick<GoingParts, 'archive'>, scope: Scope): Promise<Going> {
  const present = new Set<unknown>()
  const texts = new Set<string>()
  await readSnapshot(archive, scope, async (snapshot) => {
    for (const { text } of [...snapshot.profile.lines, ...snapshot.profile.history]) texts.add(text)
    for await (const batch of snapshot.memories()) for (const { entry } of batch) present.add(entry.id)
  })
  return { has: async ({ id }) => !present.has(id), hasLine: ({ text }) => !texts.has(text) }
}

/**
 * Writes the package of a backup again, to a new file, without the memories that go: its checksum, content hash and digests
 * are those of the rest. Resolves with the changed row; undefined where none goes, and `unreadable` where the package is not
 * valid and the one of the row.
 */
export async function rewriteBackup(
  row: BackupRow,
  path: string,
  to: () => Promise<string>,
  going: Going,
): Promise<BackupRow | 'unreadable' | undefined> {
  try {
    if (!(await holdsAny(path, going))) return undefined
  } catch (reason) {
    if (reason instanceof FileError) return 'unreadable'
    throw reason
  }
  const source = await openBackup(row, path).catch((reason: unknown) => {
    if ((reason as { code?: unknown }).code === 'invalid') return undefined
    throw reason
  })
  if (!source) return 'unreadable'
  try {
    const { metadata, ...head } = source.head
    const target = await to()
    const written: WrittenPackage = await writeZipPackage(target, {
      ...head,
      extra: packagedWithout(head.extra, going.hasLine) ?? head.extra,
      metadata: metadataRewritten(metadata),
      memories: staying(source.memories(), going),
      log: batches(source.log()),
    })
    const { checksum, content_hash, memories } = written
    return { ...row, checksum, content_hash, memories, bytes: statSync(target).size }
  } finally {
    source.close()
  }
}

async function holdsAny(path: string, going: Going): Promise<boolean> {
  const source = openZipPackage(path)
  try {
    if (packagedWithout(source.head.extra, going.hasLine)) return true
  } finally {
    source.close()
  }
  for (const fields of memoryFields(path, going.texts)) if (await going.has(fields)) return true
  return false
}

async function* staying(
  memories: Iterable<PackageMemory>,
  going: Going,
): AsyncGenerator<readonly PackageMemory[], void, void> {
  for await (const batch of batches(memories)) {
    const stay: PackageMemory[] = []
    for (const memory of batch) if (!(await going.has(memory.fields))) stay.push(memory)
    yield stay
  }
}

const batchSize = 100

async function* batches<T>(items: Iterable<T>): AsyncGenerator<readonly T[], void, void> {
  let batch: T[] = []
  for (const item of items) {
    batch.push(item)
    if (batch.length < batchSize) continue
    yield batch
    batch = []
  }
  yield batch
}

function isEverything({ category, before }: WipeFilter): boolean {
  return category === undefined && before === undefined
}

function meets(memory: MemoryFields | object, { category, before }: WipeFilter): boolean {
  const { metadata, timestamp } = memory as { readonly metadata?: unknown; readonly timestamp?: unknown }
  return (
    (category === undefined || category === categoryOf(isFields(metadata) ? metadata : {})) &&
    (before === undefined || (typeof timestamp === 'number' && timestamp < before))
  )
}
