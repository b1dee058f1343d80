import { statSync } from 'node:fs'
import { FileError, type FileKind, unpackedSize } from '../../formats/formats.ts'
import type { PackageForm } from './format.ts'

interface PackageFile {
  readonly path: string
  readonly kind: FileKind
}

/** Unpacked bytes up to which a package is verified and imported in this process: sooner than a child process starts. */
export const smallPackage = 32 * 1024

/** Whether a package is verified and imported in this process. */
export function isSmallPackage(file: PackageFile): boolean {
  return unpackedBytes(file) <= smallPackage
}

/** The larger of a package's file size and its unpacked size, in bytes. */
export function unpackedBytes({ path, kind }: PackageFile): number {
  const { size } = statSync(path)
  if (kind !== 'zip') return size
  try {
    return Math.max(size, unpackedSize(path))
  } catch (reason) {
    // Its reader refuses such a zip by its directory alone.
    if (reason instanceof FileError) return size
    throw reason
  }
}

/**
 * Bytes on the disk that the memories of a package file take, write-ahead log included: vectors lie in pages that they do
 * not fill, and a JSON package spells each of their numbers with ten digits.
 */
export function diskBytes(form: PackageForm | null, fileBytes: number): number {
  return fileBytes * (form === 'document' ? 0.5 : 1.5)
}
