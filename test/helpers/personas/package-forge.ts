import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib'
import { canonicalize } from '../../../src/formats/json/canonical.ts'

/** Builds forged packages, with valid checksums where asked. */

// biome-ignore lint/suspicious/noExplicitAny: a forger changes any field
export type Document = Record<string, any>

/** The document with the checksum that belongs to it. */
export function signed(document: Document): string {
  const { checksum: _old, ...metadata } = document['export_metadata']
  const rest = { ...document, export_metadata: metadata }
  const checksum = `sha256:${createHash('sha256').update(canonicalize(rest)).digest('hex')}`
  return JSON.stringify({ ...rest, export_metadata: { ...metadata, checksum } })
}

/** The same, without the digests that name a changed record. */
export function resigned(document: Document): string {
  const { record_digests: _digests, content_hash: _hash, counts: _counts, ...metadata } = document['export_metadata']
  return signed({ ...document, export_metadata: metadata })
}

export interface Member {
  readonly name: string
  readonly data: Buffer
  readonly method?: number
  readonly flags?: number
  /** False values for the headers. */
  readonly size?: number
  readonly crc?: number
  readonly localName?: string
}

/** A zip of these members, as told. */
export function zipOf(members: readonly Member[]): Buffer {
  const files: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, data, method = 0, flags = 0, size, crc, localName = name } of members) {
    const packed = method === 8 ? deflateRawSync(data) : data
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(flags, 2)
    common.writeUInt16LE(method, 4)
    common.writeUInt32LE(crc ?? crc32(data), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(size ?? data.length, 18)
    common.writeUInt16LE(Buffer.byteLength(localName), 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, Buffer.from(localName), packed])
    const entry = Buffer.alloc(46)
    entry.write('PK\x01\x02', 0, 'latin1')
    entry.writeUInt16LE(20, 4)
    common.copy(entry, 6)
    entry.writeUInt16LE(Buffer.byteLength(name), 28)
    entry.writeUInt32LE(offset, 42)
    directory.push(entry, Buffer.from(name))
    files.push(local)
    offset += local.length
  }
  const central = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 0, 'latin1')
  end.writeUInt16LE(members.length, 8)
  end.writeUInt16LE(members.length, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...files, central, end])
}

/** The members of a zip, unpacked. */
export function unzip(path: string): Map<string, Buffer> {
  const zip = readFileSync(path)
  const end = zip.length - 22
  const members = new Map<string, Buffer>()
  for (let at = zip.readUInt32LE(end + 16); at < end; ) {
    const [method, packed, nameLength] = [
      zip.readUInt16LE(at + 10),
      zip.readUInt32LE(at + 20),
      zip.readUInt16LE(at + 28),
    ]
    const local = zip.readUInt32LE(at + 42)
    const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
    const data = zip.subarray(start, start + packed)
    members.set(zip.toString('utf8', at + 46, at + 46 + nameLength), method === 8 ? inflateRawSync(data) : data)
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
  }
  return members
}

/** A container with changed members and a manifest that fits them. */
export function container(members: ReadonlyMap<string, Buffer>): Buffer {
  const manifest = JSON.parse(members.get('manifest.json')!.toString())
  const { checksum: _old, content_hash: _hash, record_digests: _digests, ...metadata } = manifest.export_metadata
  const others = [...members].filter(([name]) => name !== 'manifest.json')
  const sums = others.map(([name, data]) => ({
    name,
    bytes: data.length,
    sha256: createHash('sha256').update(data).digest('hex'),
  }))
  const rest = { ...manifest, members: sums, export_metadata: metadata }
  const checksum = `sha256:${createHash('sha256').update(canonicalize(rest)).digest('hex')}`
  const text = JSON.stringify({ ...rest, export_metadata: { ...metadata, checksum } })
  return zipOf([...others.map(([name, data]) => ({ name, data })), { name: 'manifest.json', data: Buffer.from(text) }])
}

export function put(path: string, content: string | Buffer): string {
  writeFileSync(path, content)
  return path
}
