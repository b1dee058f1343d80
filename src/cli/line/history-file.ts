import { closeSync, constants, fchmodSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '../../formats/formats.ts'
import { replaceFile } from '../../storage/storage.ts'
import { stripControls } from '../terminal/io.ts'

/** A file of typed lines, which several terminals may use at once. */
export interface HistoryFile {
  /** The oldest first. */
  readonly lines: readonly string[]
  /** The reason for which it is not used, in words; undefined where it is. */
  readonly problem: string | undefined
  append(line: string): void
}

/** Bytes that are kept of a file. */
const mostBytes = 512 * 1024
/** Bytes of a line; longer ones are not kept in the file. */
const longestLine = 32 * 1024

/**
 * Opens the file of this path, one line each as JSON, mode 0600. Each is appended in one write, so none is lost where
 * two terminals write; a file of more than twice the size that is kept is cut to its end here. A file of another user, or one
 * that is no regular file, is not touched.
 */
export function openHistoryFile(path: string): HistoryFile {
  try {
    makeFolder(dirname(path))
    const lines = linesOf(path)
    let broken = false
    return {
      lines,
      problem: undefined,
      append(line) {
        if (broken || Buffer.byteLength(line) > longestLine) return
        try {
          appendTo(path, `${JSON.stringify(line)}\n`)
        } catch {
          // A full disk, or a file that was replaced: the lines stay in memory.
          broken = true
        }
      },
    }
  } catch (reason) {
    return { lines: [], problem: explain(reason, path), append: () => {} }
  }
}

function linesOf(path: string): readonly string[] {
  let file: number
  try {
    file = openOwn(path, constants.O_RDONLY)
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw reason
  }
  try {
    // Another program may have written more.
    const { size } = fstatSync(file)
    const length = Math.min(size, mostBytes)
    const bytes = Buffer.alloc(length)
    const read = readSync(file, bytes, 0, length, size - length)
    const lines = bytes.toString('utf8', 0, read).split('\n')
    // The first line of an end is a part of one.
    if (size > length) lines.shift()
    if (size > 2 * mostBytes) replaceFile(path, lines.join('\n'))
    return lines.flatMap(linesIn)
  } finally {
    closeSync(file)
  }
}

/** The typed line that is stored, several of an earlier build; none where it is broken. */
function linesIn(stored: string): readonly string[] {
  if (!stored.startsWith('"')) return []
  try {
    const text: unknown = JSON.parse(stored)
    return typeof text === 'string' ? stripControls(text).split('\n').filter(Boolean) : []
  } catch {
    return []
  }
}

function appendTo(path: string, line: string): void {
  const file = openOwn(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT)
  try {
    writeSync(file, line)
  } finally {
    closeSync(file)
  }
}

/** Opens a regular file of this user, which no other user can read from then on. A FIFO does not block. Throws `NotOurs`. */
function openOwn(path: string, flags: number): number {
  const file = openSync(path, flags | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0), 0o600)
  try {
    const { uid, mode } = fstatSync(file)
    if (!fstatSync(file).isFile()) throw new NotOurs('it is no regular file')
    if (process.getuid && uid !== process.getuid()) throw new NotOurs('it belongs to another user')
    if (process.getuid && (mode & 0o077) !== 0) fchmodSync(file, 0o600)
    return file
  } catch (reason) {
    closeSync(file)
    throw reason
  }
}

class NotOurs extends Error {}

function explain(reason: unknown, path: string): string {
  const { code } = reason as NodeJS.ErrnoException
  if (reason instanceof NotOurs) return `${path} is not used: ${reason.message}`
  if (code === 'ELOOP' || code === 'ENXIO') return `${path} is not used: it is no regular file`
  if (code === 'EACCES' || code === 'EPERM') return `${path} is not used: permission denied`
  return `${path} is not used: the system says ${code ?? 'nothing'}`
}
