import { closeSync, openSync, readSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { ageIntro } from './age-file.ts'
import { PackageError, unsupported } from './package-format.ts'
import type { Outline, PackageSource } from './package-source.ts'

/** How an age file in letters begins. */
const ageArmor = '-----BEGIN AGE ENCRYPTED FILE-----'

/** What a file is by its first bytes. */
export type FileKind = 'json' | 'zip' | 'age' | 'armored' | 'png' | 'unknown'

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
    if (text.startsWith(ageArmor)) return 'armored'
    if (text.startsWith('PK\x03\x04') || text.startsWith('PK\x05\x06')) return 'zip'
    return /^[\t\n\r ]*\{/.test(text) ? 'json' : 'unknown'
  } finally {
    closeSync(file)
  }
}

/** A package of any form as a file that can be read: a sealed one was decrypted into a file beside. */
export interface PlainPackage {
  readonly path: string
  readonly kind: FileKind
  /** Removes what was decrypted. */
  discard(): Promise<void>
}

/**
 * Makes a package readable. An encrypted one is decrypted into `scratch`, a path that is not there yet. Throws a
 * PackageError, `not_authenticated` also when a passphrase is needed and none was given.
 */
export async function unsealPackage(
  path: string,
  scratch: string,
  passphrase?: string,
  signal?: AbortSignal,
): Promise<PlainPackage> {
  const kind = sniff(path)
  if (kind !== 'age') return { path, kind, discard: async () => {} }
  if (passphrase === undefined)
    throw new PackageError('not_authenticated', 'The package is encrypted: its passphrase is needed')
  const { decryptFile } = await import('./age-file.ts')
  try {
    await decryptFile(path, scratch, passphrase, signal)
    return { path: scratch, kind: sniff(scratch), discard: () => rm(scratch, { force: true }) }
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

/** Opens a package of any form. Throws a PackageError for what is none, and as `unsealPackage` does. */
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
  if (kind === 'json') return (await import('./package-document.ts')).openDocument(path, outline)
  if (kind === 'zip') return (await import('./package-container.ts')).openContainer(path)
  if (kind === 'age') throw unsupported('The package is encrypted twice')
  if (kind === 'armored') throw unsupported('The package is encrypted and armored: decrypt it with `age -d FILE` first')
  if (kind === 'png') throw unsupported('The file is a picture: a character card has no checksum')
  throw new PackageError('damaged', 'The file is no persona package: it begins like none of their forms')
}
