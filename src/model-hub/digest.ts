import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { Digest } from './transfer.ts'

/** Reads a whole file: its SHA-256 in hex, and whether it matches a digest. */
export async function digestFile(path: string, bytes: number, digest: Digest, signal?: AbortSignal) {
  const sha256 = createHash('sha256')
  const hashes: Hash[] = [sha256]
  // The id of a git blob: SHA-1 over a header with the length, and the content (git-hash-object).
  const git = digest.kind === 'git' ? createHash('sha1').update(`blob ${bytes}\0`) : undefined
  if (git) hashes.push(git)
  for await (const piece of createReadStream(path, { highWaterMark: 1 << 20, signal }))
    for (const hash of hashes) hash.update(piece as Buffer)
  const hex = sha256.digest('hex')
  return { sha256: hex, matches: (git ? git.digest('hex') : hex) === digest.hex }
}
