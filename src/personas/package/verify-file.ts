import { rm } from 'node:fs/promises'
import { damaged, FileError, type FileKind, fileKindOf, formatNameOf, unsupported } from '../../formats/formats.ts'
import { runInChild } from '../../process/process.ts'
import type { Fields } from '../fields.ts'
import { ContentHash } from './digest.ts'
import type { PackageMemory } from './format.ts'
import type { VerifyResult } from './outcomes.ts'
import { isSmallPackage, unpackedBytes } from './package-size.ts'
import type { Scratch } from './scratch.ts'
import type { PackageSource } from './source.ts'
import { failedVerification, type RecordObserver, verifySource } from './verify.ts'

/** A package of either form as a readable file: an encrypted one was decrypted into a scratch file. */
export interface PlainPackage {
  readonly path: string
  readonly kind: FileKind
  /** Removes the scratch file. */
  discard(): Promise<void>
}

/** The path and kind of a plain package: the task of the verifying child process. */
export type PlainFile = Pick<PlainPackage, 'path' | 'kind'>

export interface VerifyOptions {
  readonly passphrase?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Called after each memory; verifies a large package in this process too. */
  readonly onMemory?: (memories: number, total: number | undefined) => void
}

/**
 * Verifies a package in a file; a large one in a child process, unless its progress is observed. Problems of the package
 * are in the result, a missing or wrong passphrase included; rejects only for failures of this machine.
 */
export async function verifyPackage(
  path: string,
  scratch: Scratch,
  options: VerifyOptions = {},
): Promise<VerifyResult> {
  const { passphrase, signal, onMemory } = options
  let plain: PlainPackage
  try {
    plain = await decryptPackage(path, scratch, passphrase, signal)
  } catch (reason) {
    return failedVerification(reason)
  }
  const { discard, ...file } = plain
  try {
    if (onMemory || isSmallPackage(file)) return await verifyPlain(file, onMemory)
    return await runInChild<VerifyResult>({ beside: import.meta.url, name: './verify-child' }, file, signal)
  } finally {
    await discard()
  }
}

/** Verifies a plain package in this process, however large it is. */
export async function verifyPlain(file: PlainFile, onMemory?: VerifyOptions['onMemory']): Promise<VerifyResult> {
  const { result, source } = await openVerified(file, onMemory && { onMemory })
  source?.close()
  return result
}

/** A verified package that is open for its import; without a source it is invalid. */
export interface VerifiedPackage {
  readonly result: VerifyResult
  readonly source?: PackageSource
}

/**
 * Verifies a package in this process and leaves a valid one open. Up to `keptBytes` the records are kept, and the file is
 * read once; a larger one is read again in flat memory, and its source throws at its end when the file was changed since.
 */
export function openForImport(file: PlainFile): Promise<VerifiedPackage> {
  return openVerified(file, unpackedBytes(file) > keptBytes ? {} : { kept: { memories: [], log: [] } })
}

/** Bytes of an unpacked package up to which its records are kept in memory between verification and import. */
const keptBytes = 8 * 1024 ** 2

interface Kept {
  readonly memories: PackageMemory[]
  readonly log: Fields[]
}

async function openVerified(
  file: PlainFile,
  { kept, onMemory }: { readonly kept?: Kept; readonly onMemory?: VerifyOptions['onMemory'] } = {},
): Promise<VerifiedPackage> {
  let source: PackageSource
  try {
    source = await openPlain(file)
  } catch (reason) {
    return { result: failedVerification(reason) }
  }
  try {
    const { memories: total } = (source.head.metadata['counts'] ?? {}) as { readonly memories?: unknown }
    const observer: RecordObserver = {
      memory(memory, count) {
        kept?.memories.push(memory)
        onMemory?.(count, typeof total === 'number' && total > 0 ? total : undefined)
      },
      record: (record) => void kept?.log.push(record),
    }
    const result = verifySource(source, observer)
    if (result.valid) {
      const verified = kept
        ? { ...source, memories: () => kept.memories, log: () => kept.log }
        : unchanged(source, result.content_hash)
      return { result, source: verified }
    }
    source.close()
    return { result }
  } catch (reason) {
    source.close()
    throw reason
  }
}

/** A source that throws at the end of its memories when its contents are no longer the verified ones. */
function unchanged(source: PackageSource, contentHash: string | null): PackageSource {
  return {
    ...source,
    *memories() {
      const hash = new ContentHash()
      for (const memory of source.memories()) {
        hash.add(memory)
        yield memory
      }
      for (const record of source.log()) hash.record(record)
      if (hash.digest(source.head) !== contentHash) throw damaged('The package was changed while it was read')
    },
  }
}

/** Decrypts a package into a scratch file; any other is used as it is. Throws a FileError (`not_authenticated`). */
export async function decryptPackage(
  path: string,
  scratch: Scratch,
  passphrase?: string,
  signal?: AbortSignal,
): Promise<PlainPackage> {
  const kind = fileKindOf(path)
  if (kind !== 'age') return { path, kind, discard: async () => {} }
  if (passphrase === undefined)
    throw new FileError('not_authenticated', 'The package is encrypted: its passphrase is needed')
  const { decryptFile } = await import('../../formats/age-file.ts')
  const plain = scratch.path()
  const discard = () => rm(plain, { force: true })
  try {
    await decryptFile(path, plain, passphrase, signal)
    return { path: plain, kind: fileKindOf(plain), discard }
  } catch (reason) {
    await discard()
    throw reason
  }
}

/** Opens a plain package; loads only the reader of its form. Throws a FileError for any other file. */
async function openPlain({ path, kind }: PlainFile): Promise<PackageSource> {
  if (kind === 'list') throw unsupported('Invalid persona package: it is a JSON list')
  if (kind === 'json') {
    const lines = (await import('./foreign-file.ts')).foreignLines(path)
    if (lines) throw lines
    return (await import('./json-reader.ts')).openJsonPackage(path)
  }
  if (kind === 'zip') return (await import('./zip-reader.ts')).openZipPackage(path)
  if (kind === 'age') throw unsupported('The package is encrypted twice')
  if (kind === 'armored') throw unsupported('The package is encrypted and armored: decrypt it with `age -d FILE` first')
  if (kind === 'png') throw unsupported('The file is a picture: a character card has no checksum')
  throw unsupported(`Invalid persona package: it is ${formatNameOf(path)}`)
}
