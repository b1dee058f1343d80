import { createHash } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'
import { Zip, ZipDeflate, ZipPassThrough } from 'fflate'
import { canonicalize, createFile, type FileWriter, zipLimits } from '../../formats/formats.ts'
import { ContentHash, checksumOf, vectorBytes } from './digest.ts'
import { memberNames, type PackageContent, type WrittenPackage } from './format.ts'
import { closingMetadata } from './metadata.ts'
import { type MemberSum, zipPackageFormat } from './zip-reader.ts'

/** Writes a zipped package in flat memory: the texts go through a file beside it, since members follow each other. */
export async function writeZipPackage(path: string, content: PackageContent): Promise<WrittenPackage> {
  const hash = new ContentHash()
  const out = createFile(path)
  const text = createFile(`${path}.memories`)
  const log = createFile(`${path}.log`)
  try {
    const zip = zipWriter(out)
    zip.addText(memberNames.persona, canonicalize(content.persona))
    zip.addText(memberNames.state, canonicalize(content.state))
    const records: string[] = []
    for await (const batch of content.log)
      for (const record of batch) {
        records.push(hash.record(record))
        log.write(`${canonicalize(record)}\n`)
      }
    zip.addPacked(memberNames.log, log.readBack)
    const memories: string[] = []
    await zip.addStored(memberNames.vectors, vectorsOf(content, text, hash, memories))
    zip.addPacked(memberNames.memories, text.readBack)
    const metadata = closingMetadata(content, hash, memories, records)
    const manifest = { extra: content.extra, format: zipPackageFormat, members: zip.members, export_metadata: metadata }
    const checksum = checksumOf(canonicalize(manifest))
    zip.addText(memberNames.manifest, canonicalize({ ...manifest, export_metadata: { ...metadata, checksum } }))
    zip.end()
    out.close()
    return { checksum, content_hash: metadata.content_hash, memories: memories.length, records: records.length }
  } catch (reason) {
    out.discard()
    throw reason
  } finally {
    text.discard()
    log.discard()
  }
}

/** Yields the vectors of each batch; writes the lines of their memories to `text` on the way. */
async function* vectorsOf(
  content: PackageContent,
  text: FileWriter,
  hash: ContentHash,
  digests: string[],
): AsyncGenerator<Uint8Array> {
  for await (const batch of content.memories) {
    const vectors: Uint8Array[] = []
    for (const memory of batch) {
      const { fields, vector } = memory
      text.write(`${canonicalize(vector ? { ...fields, embedding_length: vector.length } : fields)}\n`)
      digests.push(hash.memory(memory))
      if (vector) vectors.push(vectorBytes(vector))
    }
    yield Buffer.concat(vectors)
  }
}

interface ZipWriter {
  readonly members: readonly MemberSum[]
  /** Adds a member, reading it twice: deflated, unless its ratio comes near the one at which readers refuse a zip bomb. */
  addPacked(name: string, read: () => Iterable<Uint8Array>): void
  addText(name: string, text: string): void
  /** Adds a member as it is. */
  addStored(name: string, pieces: AsyncIterable<Uint8Array>): Promise<void>
  end(): void
}

/** Bytes per call of deflate, which has a cost per call. */
const pieceSize = 256 * 1024

function zipWriter(out: FileWriter): ZipWriter {
  const members: MemberSum[] = []
  const zip = new Zip((error, bytes) => {
    if (error) throw error
    out.write(bytes)
  })
  const begin = (name: string, member: ZipPassThrough | ZipDeflate) => {
    // A constant time, so that the same persona gives the same bytes. Local noon keeps the day in every time zone.
    member.mtime = new Date(1980, 0, 1, 12)
    zip.add(member)
    const hash = createHash('sha256')
    let bytes = 0
    return {
      push(piece: Uint8Array) {
        hash.update(piece)
        bytes += piece.length
        member.push(piece)
      },
      end() {
        member.push(new Uint8Array(), true)
        members.push({ name, sha256: hash.digest('hex'), bytes })
      },
    }
  }
  const addPacked: ZipWriter['addPacked'] = (name, read) => {
    const member = begin(name, isRepetitive(read()) ? new ZipPassThrough(name) : new ZipDeflate(name, { level: 6 }))
    for (const piece of gathered(read())) member.push(piece)
    member.end()
  }
  return {
    members,
    addPacked,
    addText: (name, text) => addPacked(name, () => [Buffer.from(text)]),
    // Stored: two thirds of a float's bits are noise.
    async addStored(name, pieces) {
      const member = begin(name, new ZipPassThrough(name))
      for await (const piece of pieces) member.push(piece)
      member.end()
    },
    end: () => zip.end(),
  }
}

/** Whether a member deflates to near a reader's limit. A low level tells: text has a ratio of 3 to 10. */
function isRepetitive(pieces: Iterable<Uint8Array>): boolean {
  let [size, packed] = [0, 0]
  for (const piece of pieces) {
    size += piece.length
    packed += deflateRawSync(piece, { level: 2 }).length
  }
  return size > packed * (zipLimits.ratio / 6)
}

function* gathered(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  let pending: Uint8Array[] = []
  let size = 0
  for (const piece of pieces) {
    const bytes = Buffer.from(piece)
    pending.push(bytes)
    size += bytes.length
    if (size < pieceSize) continue
    yield Buffer.concat(pending)
    pending = []
    size = 0
  }
  yield Buffer.concat(pending)
}
