import { constants, createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { AppError } from '../../../errors.ts'
import { readBytes } from '../../../formats/formats.ts'
import { explain } from '../../terminal/files.ts'
import { shownName } from './delimited.ts'

export const mebibyte = 1024 * 1024

/** Reads a file that the user names, also a pipe. Throws `no_input` with its name, `too_large` beyond the limit in bytes. */
export async function readNamed(path: string, limit: number, signal: AbortSignal): Promise<Buffer> {
  const tooLarge = () => new AppError('too_large', `${shownName(path)} is larger than ${limit / mebibyte} MiB`)
  try {
    if ((await stat(path)).size > limit) throw tooLarge()
    // A device or a pipe has no size, and may have no end.
    return await readBytes(createReadStream(path, { signal }), limit, tooLarge)
  } catch (reason) {
    if (reason instanceof AppError) throw reason
    signal.throwIfAborted()
    throw new AppError('no_input', `Cannot read ${shownName(path)}: ${explain(reason)}`, { cause: reason })
  }
}

/**
 * Reads a regular file that a folder or a pattern led to; one that became a link or a pipe meanwhile is not followed.
 * Throws errors with messages that serve as the reason to leave it out.
 */
export async function readFound(path: string, limit: number): Promise<Buffer> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const status = await file.stat()
      const { size } = status
      if (!status.isFile()) throw new AppError('invalid', 'no file')
      if (size > limit) throw new AppError('too_large', `larger than ${limit / mebibyte} MiB`)
      const bytes = Buffer.alloc(size)
      const { bytesRead } = await file.read(bytes, 0, size, 0)
      return bytes.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (reason) {
    throw reason instanceof AppError ? reason : new AppError('no_input', explain(reason), { cause: reason })
  }
}
