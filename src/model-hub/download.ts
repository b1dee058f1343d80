import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { AppError } from '../errors.ts'
import { makeFolder, signatureMismatch } from '../formats/formats.ts'
import { digestFile } from './digest.ts'
import { type Digest, HubBusy, type HubFile, type OpenFile, type Transfer } from './transfer.ts'

/** A file to fetch, with its expected size and digest. */
export interface Wanted {
  readonly file: HubFile
  readonly target: string
  readonly bytes: number
  readonly digest: Digest
}

export interface DownloadParts {
  readonly transfer: Transfer
  /** Waits so many milliseconds; rejects when the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** Called with how many bytes of the file are on the disk. */
  readonly onBytes: (bytes: number) => void
  readonly signal?: AbortSignal | undefined
}

/** Tries in a row that bring nothing, and tries in all: a line that is cut again and again still gets the file. */
const triesWithoutProgress = 5
const mostTries = 500
const firstWait = 500
const longestWait = 10_000

/**
 * Brings a file to its place, whole and verified, or not at all; resolves with its SHA-256. An earlier try is
 * resumed, as long as it belongs to the same content.
 * Throws an AppError: `invalid` when the hub sends other content than expected or announced, `io` when the disk is full,
 * `unavailable` when the hub stays away. The part is kept for the next try.
 */
export async function download(wanted: Wanted, parts: DownloadParts): Promise<string> {
  makeFolder(dirname(wanted.target), 0o777)
  const part = partOf(wanted)
  await sweepOtherParts(wanted.target, part)
  const resumed = (await sizeOf(part)) > 0
  await fill(part, wanted, parts)
  const verified = await verify(part, wanted, parts)
  if (verified !== undefined) return place(part, wanted, verified)
  // A part that a crash of the machine left with holes is not the hub's fault: once more from the beginning.
  await rm(part, { force: true })
  if (resumed) {
    await fill(part, wanted, parts)
    const again = await verify(part, wanted, parts)
    if (again !== undefined) return place(part, wanted, again)
    await rm(part, { force: true })
  }
  throw mismatch(wanted)
}

/** The bytes of a file that are here from an earlier try. */
export async function bytesHere(wanted: Wanted): Promise<number> {
  return Math.min(await sizeOf(partOf(wanted)), wanted.bytes)
}

/** Removes the parts of a file's unfinished downloads; returns the bytes freed. */
export async function removeParts(target: string): Promise<number> {
  let freed = 0
  for (const path of await partsOf(target)) {
    freed += await sizeOf(path)
    await rm(path, { force: true })
  }
  return freed
}

/** Named after the content, so that a part of another revision is never taken up. */
function partOf({ target, digest }: Wanted): string {
  return `${target}.${digest.hex.slice(0, 16)}.part`
}

async function partsOf(target: string): Promise<readonly string[]> {
  const names: string[] = await readdir(dirname(target)).catch(() => [])
  const name = basename(target)
  return names
    .filter((file) => file.startsWith(`${name}.`) && /^\.[0-9a-f]{16}\.part$/.test(file.slice(name.length)))
    .map((file) => join(dirname(target), file))
}

async function sweepOtherParts(target: string, part: string): Promise<void> {
  for (const path of await partsOf(target)) if (path !== part) await rm(path, { force: true })
}

/** Asks until the part is as long as the file. */
async function fill(part: string, wanted: Wanted, parts: DownloadParts): Promise<void> {
  const handle = await open(part, 'a+')
  try {
    if ((await handle.stat()).size > wanted.bytes) await handle.truncate(0)
    let idle = 0
    let trouble: unknown
    for (let tries = 0; ; tries++) {
      const { size } = await handle.stat()
      parts.onBytes(size)
      if (size === wanted.bytes) return
      if (idle >= triesWithoutProgress || tries >= mostTries) throw stayedAway(wanted, trouble)
      if (tries > 0) await parts.sleep(waitAfter(trouble, idle), parts.signal)
      trouble = await appendFrom(handle, size, wanted, parts)
      idle = (await handle.stat()).size > size ? 0 : idle + 1
    }
  } finally {
    await handle.sync().catch(() => {})
    await handle.close()
  }
}

function waitAfter(trouble: unknown, idle: number): number {
  const asked = trouble instanceof HubBusy ? trouble.waitMs : undefined
  return asked ?? Math.min(longestWait, firstWait * 2 ** idle)
}

/** Appends one exchange to the part as far as it goes; returns the error that ended it early. Throws final errors. */
async function appendFrom(
  handle: FileHandle,
  from: number,
  wanted: Wanted,
  { transfer, onBytes, signal }: DownloadParts,
): Promise<unknown> {
  let opened: OpenFile | undefined
  try {
    opened = await transfer.open(wanted.file, from, signal)
    requireSame(opened, wanted)
    let skip = from - opened.from
    let size = from
    for await (const piece of opened.body) {
      // A server without ranges begins at the beginning: bytes that are here already are skipped.
      const fresh = skip === 0 ? piece : piece.subarray(Math.min(skip, piece.length))
      skip -= piece.length - fresh.length
      if (fresh.length === 0) continue
      size += fresh.length
      if (size > wanted.bytes) {
        await handle.truncate(0)
        throw mismatch(wanted)
      }
      await write(handle, fresh, wanted)
      onBytes(size)
    }
    return undefined
  } catch (reason) {
    opened?.discard()
    signal?.throwIfAborted()
    if (reason instanceof AppError) throw reason
    return reason
  }
}

async function write(handle: FileHandle, bytes: Uint8Array, wanted: Wanted): Promise<void> {
  try {
    for (let offset = 0; offset < bytes.length; ) offset += (await handle.write(bytes, offset)).bytesWritten
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    const full = code === 'ENOSPC' || code === 'EDQUOT'
    throw new AppError('io', full ? 'The disk is full' : `${wanted.target} could not be written (${code})`, {
      details: full ? ['the part is kept: make room and pull again, or remove the model'] : [],
      cause,
    })
  }
}

/** Compares the hub's announcement with the expected file before the first byte is taken. */
function requireSame({ bytes, digest }: OpenFile, wanted: Wanted): void {
  const otherSize = bytes !== undefined && bytes !== wanted.bytes
  const otherContent = digest?.kind === wanted.digest.kind && digest.hex !== wanted.digest.hex
  if (otherSize || otherContent) throw mismatch(wanted)
}

async function verify(part: string, wanted: Wanted, { signal }: DownloadParts): Promise<string | undefined> {
  const { sha256, matches } = await digestFile(part, wanted.bytes, wanted.digest, signal)
  return matches ? sha256 : undefined
}

/** Puts a verified part in its place; removes it where its content does not have the format of its name. */
async function place(part: string, { file, target }: Wanted, sha256: string): Promise<string> {
  const found = await signatureMismatch(part, file.path)
  if (found !== undefined) {
    await rm(part, { force: true })
    throw new AppError('invalid', `${file.path} from the model hub is ${found}`, {
      details: [`from ${file.repository} at ${file.revision}; nothing was installed`],
    })
  }
  await rename(part, target)
  return sha256
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0
}

function mismatch({ file, digest }: Wanted): AppError {
  return new AppError('invalid', `${file.path} from the model hub is not the pinned file`, {
    details: [
      `expected ${digest.kind === 'sha256' ? 'SHA-256' : 'git blob'} ${digest.hex}`,
      `from ${file.repository} at ${file.revision}; nothing was installed`,
    ],
  })
}

function stayedAway({ file }: Wanted, trouble: unknown): AppError {
  const words = trouble instanceof Error ? trouble.message : 'the connection was cut again and again'
  return new AppError('unavailable', `${file.path} of ${file.repository} could not be fetched: ${words}`, {
    details: ['the part is kept: pull again to go on from there'],
    cause: trouble,
  })
}
