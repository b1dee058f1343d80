import { createHash } from 'node:crypto'
import { Zip, ZipDeflate, ZipPassThrough } from 'fflate'
import { canonicalize } from './canonical-json.ts'
import { createFile, type FileWriter } from './file-writer.ts'
import { containerFormat, type MemberSum } from './package-container.ts'
import { ContentHash, vectorBytes } from './package-digest.ts'
import { memberNames, type PackageContent, type WrittenPackage } from './package-format.ts'
import { closingMetadata } from './package-metadata.ts'

/**
 * Writes a package as a container to a new file, in flat memory: the text of the memories goes through a file beside
 * it, since a zip takes its members one after the other.
 */
export function writeContainer(path: string, content: PackageContent): WrittenPackage {
  const hash = new ContentHash()
  const out = createFile(path)
  const text = createFile(`${path}.memories`)
  try {
    const zip = zipWriter(out)
    zip.add(memberNames.persona, [canonicalize(content.persona)])
    zip.add(memberNames.state, [canonicalize(content.state)])
    const records: string[] = []
    zip.add(
      memberNames.log,
      mapped(content.log, (record) => {
        records.push(hash.record(record))
        return `${canonicalize(record)}\n`
      }),
    )
    const memories: string[] = []
    zip.add(memberNames.vectors, vectorsOf(content, text, hash, memories), 'stored')
    zip.add(memberNames.memories, text.readBack())
    const metadata = closingMetadata(content, hash, memories, records)
    const manifest = { ...content.extra, format: containerFormat, members: zip.members, export_metadata: metadata }
    const checksum = `sha256:${createHash('sha256').update(canonicalize(manifest)).digest('hex')}`
    zip.add(memberNames.manifest, [canonicalize({ ...manifest, export_metadata: { ...metadata, checksum } })])
    zip.end()
    out.close()
    return { checksum, content_hash: metadata.content_hash, memories: memories.length, records: records.length }
  } catch (reason) {
    out.discard()
    throw reason
  } finally {
    text.discard()
  }
}

/** The vectors one after the other; the lines of their memories go to `text` on the way. */
function* vectorsOf(
  content: PackageContent,
  text: FileWriter,
  hash: ContentHash,
  digests: string[],
): Generator<Uint8Array> {
  for (const memory of content.memories) {
    const { fields, vector } = memory
    text.write(`${canonicalize(vector ? { ...fields, embedding_length: vector.length } : fields)}\n`)
    digests.push(hash.memory(memory))
    if (vector) yield vectorBytes(vector)
  }
}

function* mapped<T, U>(items: Iterable<T>, change: (item: T) => U): Generator<U> {
  for (const item of items) yield change(item)
}

interface ZipWriter {
  readonly members: readonly MemberSum[]
  add(name: string, pieces: Iterable<string | Uint8Array>, how?: 'deflated' | 'stored'): void
  end(): void
}

/** Pieces are gathered to this many bytes: packing has a cost per call. */
const pieceSize = 256 * 1024

function zipWriter(out: FileWriter): ZipWriter {
  const members: MemberSum[] = []
  const zip = new Zip((error, bytes) => {
    if (error) throw error
    out.write(bytes)
  })
  return {
    members,
    add(name, pieces, how = 'deflated') {
      // Floats do not pack: two thirds of their bits are noise.
      const member = how === 'stored' ? new ZipPassThrough(name) : new ZipDeflate(name, { level: 6 })
      // One time for all, so that the same persona gives the same bytes. Local noon keeps the day in every time zone.
      member.mtime = new Date(1980, 0, 1, 12)
      zip.add(member)
      const hash = createHash('sha256')
      let bytes = 0
      for (const piece of gathered(pieces)) {
        hash.update(piece)
        bytes += piece.length
        member.push(piece)
      }
      member.push(new Uint8Array(), true)
      members.push({ name, sha256: hash.digest('hex'), bytes })
    },
    end: () => zip.end(),
  }
}

function* gathered(pieces: Iterable<string | Uint8Array>): Generator<Uint8Array> {
  let pending: Uint8Array[] = []
  let size = 0
  for (const piece of pieces) {
    const bytes = Buffer.from(piece as Uint8Array)
    pending.push(bytes)
    size += bytes.length
    if (size < pieceSize) continue
    yield Buffer.concat(pending)
    pending = []
    size = 0
  }
  yield Buffer.concat(pending)
}
