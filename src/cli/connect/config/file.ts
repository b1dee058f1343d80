import { isUtf8 } from 'node:buffer'
import { chmodSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { AppError } from '../../../errors.ts'
import { replaceFile } from '../../../storage/storage.ts'

/** The largest configuration file that is changed, in bytes: a change of this much TOML takes some seconds. */
const longest = 256 * 1024

const byteOrderMark = '\ufeff'

/** A configuration file of another program, as it is on the disk. */
export interface FoundFile {
  /** The file itself, behind symbolic links. */
  readonly path: string
  /** Null where there is no file yet. */
  readonly bytes: Buffer | null
  /** Permissions; those of a new file where there is none. */
  readonly mode: number
}

/**
 * Reads a configuration file. Throws `invalid` for one that is no regular file, belongs to another user, is read-only, is no
 * UTF-8 or is too large, and `no_input` for one that cannot be read.
 */
export function readConfigFile(path: string): FoundFile {
  const stat = statOf(path)
  const target = realPath(path)
  if (stat === undefined) return { path: target, bytes: null, mode: 0o600 }
  const problem = problemOf(stat)
  if (problem !== undefined) throw untouched(path, problem)
  const bytes = readWhole(path)
  if (!isUtf8(bytes)) throw untouched(path, 'it is no UTF-8 text')
  return { path: target, bytes, mode: stat.mode & 0o777 }
}

/** The failure of a file that is left as it is. */
export function untouched(path: string, reason: string, details: readonly string[] = []): AppError {
  return new AppError('invalid', `${path} was left as it is: ${reason}`, { details })
}

/** The text of a file without its byte order mark; empty where there is no file. */
export function textOf({ bytes }: FoundFile): string {
  return (bytes?.toString('utf8') ?? '').replace(byteOrderMark, '')
}

/** The bytes of a new text, with the byte order mark that the file had. */
export function bytesOf({ bytes }: FoundFile, text: string): Buffer {
  return Buffer.from(bytes?.toString('utf8').startsWith(byteOrderMark) ? byteOrderMark + text : text)
}

/** Replaces a file in one step, with these permissions. Makes its folder. */
export function writeConfigFile(path: string, bytes: Buffer, mode: number): void {
  try {
    replaceFile(path, bytes, mode)
    // The process's umask may have taken rights that the file had.
    chmodSync(path, mode)
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown reason'
    throw new AppError('cannot_create', `Cannot write ${path}: ${code}`, { cause })
  }
}

/** The path without symbolic links, of a file that may not be there yet. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return dirname(path) === path ? path : join(realPath(dirname(path)), basename(path))
  }
}

function statOf(path: string) {
  try {
    const link = lstatSync(path, { throwIfNoEntry: false })
    if (link === undefined) return undefined
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat === undefined) throw untouched(path, 'it is a symbolic link to nothing')
    return stat
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw new AppError('no_input', `Cannot read ${path}: ${(cause as NodeJS.ErrnoException).code}`, { cause })
  }
}

/** The reason for which a file may not be replaced. */
function problemOf(stat: NonNullable<ReturnType<typeof statOf>>): string | undefined {
  if (!stat.isFile()) return 'it is no regular file'
  if (stat.size > longest) return `it is larger than ${longest / 1024} KiB`
  if (process.getuid && stat.uid !== process.getuid()) return 'it belongs to another user'
  if ((stat.mode & 0o200) === 0) return 'it is read-only'
  return undefined
}

function readWhole(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw new AppError('no_input', `Cannot read ${path}: ${(cause as NodeJS.ErrnoException).code}`, { cause })
  }
}
