import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolder } from '../../formats/formats.ts'
import { removeFile, replaceFile } from './atomic.ts'

/** One file or folder that takes the place of another: absolute paths on the same disk. */
export interface Move {
  /** The new one, which is complete; null where the old one only goes aside. */
  readonly from: string | null
  readonly to: string
  /** The place of the old one from now on. */
  readonly aside: string
}

function journalOf(folder: string): string {
  return join(folder, 'replacement.json')
}

/** Replaces several files together, by a journal that the next opening of the storage finishes after a crash. */
export function replaceTogether(folder: string, moves: readonly Move[]): void {
  replaceFile(journalOf(folder), `${JSON.stringify({ moves })}\n`)
  finishReplacement(folder)
}

/** Whether a replacement was decided and is not finished. */
export function isReplacing(folder: string): boolean {
  return existsSync(journalOf(folder))
}

/** Finishes a replacement that was cut off. True when there was one. */
export function finishReplacement(folder: string): boolean {
  if (!isReplacing(folder)) return false
  const journal = journalOf(folder)
  const { moves } = JSON.parse(readFileSync(journal, 'utf8')) as { moves: readonly Move[] }
  for (const move of moves) perform(move)
  removeFile(journal)
  return true
}

/** May be repeated: a move is done once its new file has left `from`. */
function perform({ from, to, aside }: Move): void {
  if (from !== null && !existsSync(from)) return
  if (existsSync(to) && !existsSync(aside)) {
    makeFolder(dirname(aside))
    rename(to, aside)
  }
  if (from !== null) rename(from, to)
  for (const folder of new Set([dirname(to), dirname(aside)])) flush(folder)
}

/** Another process that finishes the same replacement may be faster. */
function rename(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code !== 'ENOENT' || !existsSync(to)) throw reason
  }
}

function flush(folder: string): void {
  try {
    const handle = openSync(folder, 'r')
    fsyncSync(handle)
    closeSync(handle)
  } catch {
    // Not every system opens folders; the rename has happened either way.
  }
}
