import { closeSync, openSync, readSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { ageIntro } from './age-file.ts'
import { PackageError, unsupported } from './package-format.ts'
import type { PackageSource } from './package-source.ts'

/** What a file is by its first bytes. */
export type FileKind = 'json' | 'zip' | 'age' | 'png' | 'unknown'

const pngSignature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')

/** Looks at the first bytes; a name or a declared type says nothing. */
export function sniff(path: string): FileKind {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(256)
    const start = bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0))
    if (start.subarray(0, pngSignature.length).equals(pngSignature)) return 'png'
    const text = start.toString('latin1')
    if (text.startsWith(ageIntro)) return 'age'
    if (text.startsWith('PK\x03\x04') || text.startsWith('PK\x05\x06')) return 'zip'
    return /^[\t\n\r ]*\{/.test(text) ? 'json' : 'unknown'
  } finally {
    closeSync(file)
  }
}

/** A package made ready to be read. */
export interface OpenedPackage {
  readonly source: PackageSource
  /** The file that is read: the decrypted one of a sealed package. */
  readonly path: string
  /** Closes the file and removes what was decrypted for it. */
  close(): Promise<void>
}

/**
 * Opens a package of any form. An encrypted one is decrypted into `scratch` first, a path that is not there yet.
 * Throws a PackageError for what is no package, `not_authenticated` also when a passphrase is needed and none was given.
 */
export async function openPackage(path: string, scratch: string, passphrase?: string): Promise<OpenedPackage> {
  const kind = sniff(path)
  if (kind !== 'age') {
    const source = await openPlain(path, kind)
    return { source, path, close: async () => source.close() }
  }
  if (passphrase === undefined)
    throw new PackageError('not_authenticated', 'The package is encrypted: its passphrase is needed')
  const { decryptFile } = await import('./age-file.ts')
  try {
    await decryptFile(path, scratch, passphrase)
    const source = await openPlain(scratch, sniff(scratch))
    const close = async () => {
      source.close()
      await rm(scratch, { force: true })
    }
    return { source, path: scratch, close }
  } catch (reason) {
    await rm(scratch, { force: true })
    throw reason
  }
}

/** Only what a file needs is loaded: unzipping is nothing to a document. */
async function openPlain(path: string, kind: FileKind): Promise<PackageSource> {
  if (kind === 'json') return (await import('./package-document.ts')).openDocument(path)
  if (kind === 'zip') return (await import('./package-container.ts')).openContainer(path)
  if (kind === 'age') throw unsupported('The package is encrypted twice')
  if (kind === 'png') throw unsupported('The file is a picture: a character card has no checksum')
  throw new PackageError('damaged', 'The file is no persona package: it begins like none of their forms')
}
