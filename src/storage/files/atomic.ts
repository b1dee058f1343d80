import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { makeFolder } from '../../formats/formats.ts'

/**
 * Puts content in a file's place so that a reader sees the old file or the new one, whole, also after a crash:
 * written next to it, flushed, renamed, and the folder flushed. Creates the folder.
 */
export function replaceFile(path: string, content: string | Uint8Array, mode = 0o600): void {
  const folder = dirname(path)
  makeFolder(folder)
  const temporary = join(folder, `.${basename(path)}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`)
  const file = openSync(temporary, 'wx', mode)
  try {
    writeWhole(file, typeof content === 'string' ? Buffer.from(content) : content)
    fsyncSync(file)
    closeSync(file)
    renameSync(temporary, path)
  } catch (reason) {
    rmSync(temporary, { force: true })
    throw reason
  }
  flushFolder(folder)
}

/** Removes a file for good; true when it was there. */
export function removeFile(path: string): boolean {
  const there = statSync(path, { throwIfNoEntry: false }) !== undefined
  if (there) {
    rmSync(path, { force: true })
    flushFolder(dirname(path))
  }
  return there
}

/** Temporary files of a writer that was killed, older than an hour, are swept from a folder. */
export function sweepTemporary(folder: string, now = Date.now()): void {
  for (const name of listFolder(folder)) {
    const path = join(folder, name)
    if (/^\..*\.tmp$/.test(name) && now - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now) > 3_600_000)
      rmSync(path, { force: true })
  }
}

/** The names in a folder; an absent one is empty. */
export function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw reason
  }
}

function writeWhole(file: number, bytes: Uint8Array): void {
  for (let offset = 0; offset < bytes.length; ) offset += writeSync(file, bytes, offset)
}

function flushFolder(folder: string): void {
  // Not every platform lets a folder be opened; the rename itself has happened either way.
  try {
    const handle = openSync(folder, 'r')
    fsyncSync(handle)
    closeSync(handle)
  } catch {
    return
  }
}
