import { rm } from 'node:fs/promises'
import { FileError, unsupported } from '../../formats/file-error.ts'
import { type FileKind, fileKindOf } from '../../formats/file-kind.ts'
import type { Outline, PackageSource } from './source.ts'

/** A package of any form as a file that can be read: a sealed one was decrypted into a file beside. */
export interface PlainPackage {
  readonly path: string
  readonly kind: FileKind
  /** Removes what was decrypted. */
  discard(): Promise<void>
}

/**
 * Makes a package readable. An encrypted one is decrypted into `scratch`, a path that is not there yet. Throws a
 * FileError, `not_authenticated` also when a passphrase is needed and none was given.
 */
export async function unsealPackage(
  path: string,
  scratch: string,
  passphrase?: string,
  signal?: AbortSignal,
): Promise<PlainPackage> {
  const kind = fileKindOf(path)
  if (kind !== 'age') return { path, kind, discard: async () => {} }
  if (passphrase === undefined)
    throw new FileError('not_authenticated', 'The package is encrypted: its passphrase is needed')
  const { decryptFile } = await import('../../formats/age-file.ts')
  try {
    await decryptFile(path, scratch, passphrase, signal)
    return { path: scratch, kind: fileKindOf(scratch), discard: () => rm(scratch, { force: true }) }
  } catch (reason) {
    await rm(scratch, { force: true })
    throw reason
  }
}

/** A package made ready to be read. */
export interface OpenedPackage {
  readonly source: PackageSource
  /** Closes the file and removes what was decrypted for it. */
  close(): Promise<void>
}

/** Opens a package of any form. Throws a FileError for what is none, and as `unsealPackage` does. */
export async function openPackage(path: string, scratch: string, passphrase?: string): Promise<OpenedPackage> {
  const plain = await unsealPackage(path, scratch, passphrase)
  try {
    const source = await openPlain(plain)
    const close = async () => {
      source.close()
      await plain.discard()
    }
    return { source, close }
  } catch (reason) {
    await plain.discard()
    throw reason
  }
}

/**
 * Opens what is plain; only what a file needs is loaded: unzipping is nothing to a document. `outline` is where the
 * parts of a document stand, when somebody looked already.
 */
export async function openPlain(
  { path, kind }: Pick<PlainPackage, 'path' | 'kind'>,
  outline?: Outline,
): Promise<PackageSource> {
  if (kind === 'json') return (await import('./json-reader.ts')).openDocument(path, outline)
  if (kind === 'zip') return (await import('./zip-reader.ts')).openContainer(path)
  if (kind === 'age') throw unsupported('The package is encrypted twice')
  if (kind === 'armored') throw unsupported('The package is encrypted and armored: decrypt it with `age -d FILE` first')
  if (kind === 'png') throw unsupported('The file is a picture: a character card has no checksum')
  throw new FileError('damaged', 'The file is no persona package: it begins like none of their forms')
}
