import { createWriteStream } from 'node:fs'
import { readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { AppError } from '../../errors.ts'
import { parseJson } from '../../formats/formats.ts'
import type { Cli } from './cli.ts'
import { readStdin, sizeOf } from './stdin.ts'

/** Reads a file, or stdin for `-`. Throws `no_input` with the path and the reason, `too_large` beyond the limit in bytes. */
export async function readInput(cli: Cli, path: string, limit = 64 * 1024 * 1024): Promise<Buffer> {
  if (path === '-') return readStdin(cli, limit)
  try {
    const { size } = await stat(path)
    if (size > limit) throw new AppError('too_large', `${path} is larger than ${sizeOf(limit)}`)
    return await readFile(path)
  } catch (reason) {
    if (reason instanceof AppError) throw reason
    throw new AppError('no_input', `Cannot read ${path}: ${explain(reason)}`, { cause: reason })
  }
}

/** Reads and parses a JSON file, or stdin for `-`. */
export async function readJsonInput(cli: Cli, path: string, limit?: number): Promise<unknown> {
  const bytes = await readInput(cli, path, limit)
  return parseJson(bytes.toString('utf8'), path === '-' ? 'standard input' : path)
}

/** Writes a file atomically. Throws `cannot_create` when it exists and `force` is not set. */
export async function writeOutput(path: string, content: string | Uint8Array, force: boolean): Promise<void> {
  if (!force && (await stat(path).catch(() => undefined))) {
    throw new AppError('cannot_create', `${path} already exists`, { details: ['Add --force to replace it'] })
  }
  try {
    await stat(dirname(path))
    const { replaceFile } = await import('../../storage/files/atomic.ts')
    replaceFile(path, content, 0o644)
  } catch (reason) {
    throw new AppError('cannot_create', `Cannot write ${path}: ${explain(reason)}`, { cause: reason })
  }
}

/** Writes pieces to a file that is there once it is whole. Throws as `writeOutput`, and the errors of the pieces. */
export async function streamOutput(
  path: string,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  force: boolean,
): Promise<void> {
  if (!force && (await stat(path).catch(() => undefined)))
    throw new AppError('cannot_create', `${path} already exists`, { details: ['Add --force to replace it'] })
  const temporary = `${path}.${process.pid}.part`
  try {
    await pipeline(pieces, createWriteStream(temporary, { flags: 'wx', mode: 0o600, flush: true }))
    await rename(temporary, path)
  } catch (reason) {
    await rm(temporary, { force: true })
    if (reason instanceof AppError) throw reason
    throw new AppError('cannot_create', `Cannot write ${path}: ${explain(reason)}`, { cause: reason })
  }
}

/** The reason of a failed file operation in words. */
export function explain(reason: unknown): string {
  const code = (reason as NodeJS.ErrnoException).code
  const words: Record<string, string> = {
    ENOENT: 'file or folder not found',
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    EISDIR: 'it is a folder',
    ENOTDIR: 'part of its path is not a folder',
    EROFS: 'the disk is read-only',
    ENOSPC: 'the disk is full',
    EDQUOT: 'the disk quota is used up',
    EFBIG: 'the file may not grow further',
  }
  return words[code ?? ''] ?? code ?? 'unknown reason'
}
