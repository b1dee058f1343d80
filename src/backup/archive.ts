import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, statfsSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar'
import { packTar } from 'modern-tar/fs'
import { AppError } from '../errors.ts'
import { damaged, makeFolder } from '../formats/formats.ts'
import { longestManifest, type Manifest, manifestName, type Part, readManifest } from './manifest.ts'

/** A backup is a tar, packed by gzip: the manifest, then its parts in its order. */

/** Reads a file and tells its sum. */
export async function partOf(name: string, path: string): Promise<Part> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const piece of createReadStream(path, { highWaterMark: 1024 ** 2 })) {
    hash.update(piece as Buffer)
    bytes += (piece as Buffer).length
  }
  return { name, sha256: hash.digest('hex'), bytes }
}

/** Writes a backup of files in a folder to a new file, which is on the disk when this resolves. */
export async function writeArchive(
  to: string,
  folder: string,
  manifest: Manifest,
  onProgress: (share: number) => void,
): Promise<void> {
  const mtime = new Date(manifest.created_at)
  const common = { mode: 0o600, mtime }
  const tar = packTar([
    { type: 'content', target: manifestName, content: `${JSON.stringify(manifest, null, 1)}\n`, ...common },
    ...manifest.parts.map(
      ({ name }) => ({ type: 'file', source: join(folder, name), target: name, ...common }) as const,
    ),
  ])
  const total = manifest.parts.reduce((sum, { bytes }) => sum + bytes, 0)
  await pipeline(
    tar,
    counting((bytes) => onProgress(bytes / (total + 1))),
    createGzip({ level: 6 }),
    createWriteStream(to, { flags: 'wx', mode: 0o600, flush: true }),
  )
}

/**
 * Reads a backup to its end: every part must have the size and the sum of the manifest, and nothing else may be there. With
 * a folder the parts are unpacked into it. Throws a FileError for a damaged one, `io` where the disk has no room for it.
 */
export async function readArchive(
  path: string,
  folder: string | undefined,
  onProgress: (share: number) => void,
): Promise<Manifest> {
  const size = Math.max(1, statSync(path).size)
  const decoder = createTarDecoder({ strict: true })
  const stop = new AbortController()
  const fed = pipeline(
    createReadStream(path, { highWaterMark: 256 * 1024 }),
    counting((bytes) => onProgress(bytes / size)),
    createGunzip(),
    decoder.writable as unknown as NodeJS.WritableStream,
    { signal: stop.signal },
  )
  fed.catch(() => undefined)
  try {
    const manifest = await readEntries(decoder.readable, folder)
    await fed
    return manifest
  } catch (reason) {
    stop.abort()
    throw explained(reason)
  }
}

async function readEntries(
  entries: AsyncIterable<ParsedTarEntry> | ReadableStream<ParsedTarEntry>,
  folder: string | undefined,
): Promise<Manifest> {
  let manifest: Manifest | undefined
  let index = 0
  for await (const { header, body } of entries as AsyncIterable<ParsedTarEntry>) {
    if (!manifest) {
      if (header.name !== manifestName || header.size > longestManifest)
        throw damaged('The file is no backup of aichat: it does not begin with a manifest')
      manifest = readManifest(await textOf(body))
      if (folder !== undefined) refuseWithoutRoom(folder, manifest)
      continue
    }
    const part = manifest.parts[index++]
    if (!part || header.name !== part.name || header.size !== part.bytes || header.type !== 'file')
      throw damaged(
        `The backup holds ${JSON.stringify(header.name.slice(0, 100))}, which its manifest does not name there`,
      )
    await readPart(part, body, folder)
  }
  if (!manifest) throw damaged('The backup is empty')
  if (index < manifest.parts.length) throw damaged(`The backup breaks off before ${manifest.parts[index]!.name}`)
  return manifest
}

async function readPart(part: Part, body: AsyncIterable<Uint8Array> | ReadableStream, folder: string | undefined) {
  const hash = createHash('sha256')
  const path = folder === undefined ? undefined : join(folder, part.name)
  if (path !== undefined) makeFolder(dirname(path))
  const file = path === undefined ? undefined : await open(path, 'wx', 0o600)
  try {
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      hash.update(piece)
      // `appendFile` writes all of a piece, `write` may take a part of it.
      await file?.appendFile(piece)
    }
    await file?.sync()
  } finally {
    await file?.close()
  }
  if (hash.digest('hex') !== part.sha256)
    throw damaged(`${part.name} of the backup differs from its sum in the manifest`)
}

function refuseWithoutRoom(folder: string, { parts }: Manifest): void {
  const needed = parts.reduce((sum, { bytes }) => sum + bytes, 0)
  const { bavail, bsize } = statfsSync(folder)
  if (needed > bavail * bsize)
    throw new AppError('io', `The disk of ${folder} has no room for the backup`, {
      details: [`It unpacks to ${needed} bytes; ${bavail * bsize} are free`],
    })
}

async function textOf(body: AsyncIterable<Uint8Array> | ReadableStream): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of body as AsyncIterable<Uint8Array>) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}

/** Errors of zlib and of the tar reader say that the file is damaged; those of the disk stay as they are. */
function explained(reason: unknown): unknown {
  if (reason instanceof AppError) return reason
  const code = String((reason as { code?: unknown } | null)?.code ?? '')
  if (code.startsWith('E') && !code.startsWith('ERR_')) return reason
  return damaged('The backup is damaged: it does not unpack', reason)
}

function counting(onBytes: (bytes: number) => void): Transform {
  let bytes = 0
  return new Transform({
    transform(piece: Buffer, _, done) {
      bytes += piece.length
      onBytes(bytes)
      done(null, piece)
    },
  })
}
