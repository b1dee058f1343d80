import { closeSync, fstatSync, openSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { Inflate } from 'fflate'
import { damaged, unsupported } from './file-error.ts'
import { readSpan } from './json-spans.ts'

/** How much is unpacked: bytes of all members together, and how many times its packed size (text packs 3 to 10 times). */
export const zipLimits = { bytes: 4 * 1024 ** 3, ratio: 200 } as const

/** A member of a zip, as its own header and the central directory agree. */
export interface ZipMember {
  readonly name: string
  /** Unpacked bytes by the directory; `read` checks them. */
  readonly size: number
  readonly packedSize: number
}

/**
 * A zip read by its central directory, the one list of its members. (A reader that goes through the file from the front
 * must guess where a member of unknown length ends.)
 */
export interface ZipFile {
  readonly members: ReadonlyMap<string, ZipMember>
  /** The member's bytes in chunks, flat in memory. Throws when it does not match the directory. */
  read(name: string): Generator<Uint8Array>
  close(): void
}

interface Entry extends ZipMember {
  readonly flags: number
  readonly method: number
  /** Version, flags, method, time and date as they stand in both headers. */
  readonly common: Buffer
  readonly crc: number
  readonly headerAt: number
}

/** PKWARE APPNOTE 6.3.10, sections 4.3.7, 4.3.9, 4.3.12 and 4.3.16. */
const signatures = { header: 0x04034b50, entry: 0x02014b50, end: 0x06054b50, sums: 0x08074b50 } as const
const [headerSize, entrySize, endSize] = [30, 46, 22]

/** A package has six members. */
const mostMembers = 64

/** Bytes that are unpacked at once: a thousand times as much may come out. */
const packedChunk = 16 * 1024
const storedChunk = 1024 ** 2

/** Opens a zip and checks its structure. Throws a FileError for one that is damaged, ambiguous or made to harm. */
export function openZip(path: string): ZipFile {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const { entries, start } = readDirectory(file, size)
    const starts = locateData(file, entries, start)
    return {
      members: entries,
      read: (name) => readMember(file, entries.get(name)!, starts.get(name)!),
      close: () => closeSync(file),
    }
  } catch (reason) {
    closeSync(file)
    throw reason
  }
}

/** The bytes of all members when they are unpacked. Throws as `openZip` does. */
export function unpackedSize(path: string): number {
  const { members, close } = openZip(path)
  close()
  return [...members.values()].reduce((sum, { size }) => sum + size, 0)
}

function readDirectory(
  file: number,
  size: number,
): { readonly entries: ReadonlyMap<string, Entry>; readonly start: number } {
  const end = findEnd(file, size)
  const [count, length, start] = [end.readUInt16LE(10), end.readUInt32LE(12), end.readUInt32LE(16)]
  if (start === 0xffffffff || count === 0xffff) throw unsupported('The package is a ZIP64 archive')
  if (end.readUInt16LE(4) !== 0 || end.readUInt16LE(6) !== 0 || end.readUInt16LE(8) !== count)
    throw unsupported('The package is part of a split archive')
  if (count > mostMembers) throw damaged(`The package has more than ${mostMembers} members`)
  if (start + length !== size - endSize - end.readUInt16LE(20))
    throw damaged('The directory of the package is not at its offset')
  const bytes = readSpan(file, { start, end: start + length }, 1024 ** 2, 'The directory of the package')
  const entries = new Map<string, Entry>()
  let at = 0
  for (let index = 0; index < count; index++) {
    const entry = readEntry(bytes, at)
    if (entries.has(entry.name)) throw damaged(`The package holds ${entry.name} twice`)
    entries.set(entry.name, entry)
    at += entrySize + bytes.readUInt16LE(at + 28) + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
  }
  if (at !== length) throw damaged('The directory of the package has bytes left over')
  refuseBomb([...entries.values()])
  return { entries, start }
}

/** The end record lies at the very end, or before a comment that fills the rest exactly. */
function findEnd(file: number, size: number): Buffer {
  const span = { start: Math.max(0, size - endSize - 0xffff), end: size }
  const tail = readSpan(file, span, endSize + 0xffff, 'The end of the package')
  for (let at = tail.length - endSize; at >= 0; at--)
    if (tail.readUInt32LE(at) === signatures.end && at + endSize + tail.readUInt16LE(at + 20) === tail.length)
      return tail.subarray(at)
  throw damaged('The package breaks off: it has no end record')
}

function readEntry(bytes: Buffer, at: number): Entry {
  if (at + entrySize > bytes.length || bytes.readUInt32LE(at) !== signatures.entry)
    throw damaged('The directory of the package is damaged')
  const name = bytes.toString('utf8', at + entrySize, at + entrySize + bytes.readUInt16LE(at + 28))
  // A package has no folders; a path in a name is an attack on the unpacking side.
  if (!/^[\w][\w.-]{0,99}$/.test(name) || name.includes('..'))
    throw damaged(`The package holds a member with the name ${JSON.stringify(name.slice(0, 60))}`)
  const [flags, method] = [bytes.readUInt16LE(at + 8), bytes.readUInt16LE(at + 10)]
  if (flags & 1) throw unsupported(`${name} is encrypted by zip; aichat reads age files`)
  if (method !== 0 && method !== 8) throw unsupported(`${name} is packed by method ${method}; aichat reads deflate`)
  // The type of a Unix file in its attributes (stat.h): 0, as others write it, or a plain one.
  const type = bytes.readUInt16LE(at + 40) >>> 12
  if (bytes.readUInt16LE(at + 34) !== 0 || (type !== 0 && type !== 8)) throw damaged(`${name} is not a plain file`)
  return {
    name,
    flags,
    method,
    common: bytes.subarray(at + 6, at + 16),
    crc: bytes.readUInt32LE(at + 16),
    packedSize: bytes.readUInt32LE(at + 20),
    size: bytes.readUInt32LE(at + 24),
    headerAt: bytes.readUInt32LE(at + 42),
  }
}

function refuseBomb(entries: readonly Entry[]): void {
  const total = entries.reduce((sum, entry) => sum + entry.size, 0)
  if (total > zipLimits.bytes) throw damaged(`The package unpacks to more than ${zipLimits.bytes} bytes`)
  for (const { name, method, size, packedSize } of entries) {
    if (method === 0 && size !== packedSize) throw damaged(`${name} has two lengths`)
    if (size > 64 * 1024 && size > packedSize * zipLimits.ratio)
      throw damaged(`${name} unpacks to more than ${zipLimits.ratio} times its size`)
  }
}

/**
 * Where each member's data begins, by its own header, which must agree. Members follow each other without a gap from the
 * beginning of the file to the directory at `end`.
 */
function locateData(file: number, entries: ReadonlyMap<string, Entry>, end: number): ReadonlyMap<string, number> {
  const starts = new Map<string, number>()
  let free = 0
  for (const entry of [...entries.values()].sort((left, right) => left.headerAt - right.headerAt)) {
    const header = readSpan(file, { start: entry.headerAt, end: entry.headerAt + headerSize }, headerSize, 'A header')
    const nameLength = header.readUInt16LE(26)
    const nameAt = entry.headerAt + headerSize
    const name = readSpan(file, { start: nameAt, end: nameAt + nameLength }, 0xffff, 'A name').toString('utf8')
    if (
      entry.headerAt !== free ||
      header.readUInt32LE(0) !== signatures.header ||
      name !== entry.name ||
      !header.subarray(4, 14).equals(entry.common) ||
      !isSums(header.subarray(14, 26), entry, (entry.flags & sumsFollow) !== 0)
    )
      throw damaged(`The header of ${entry.name} does not match the directory`)
    const start = nameAt + nameLength + header.readUInt16LE(28)
    starts.set(entry.name, start)
    free = endOf(file, entry, start + entry.packedSize)
  }
  // Bytes that belong to no member may be meant for another kind of reader.
  if (free !== end) throw damaged('The package has bytes before its directory that belong to nothing')
  return starts
}

/** A member's sums and lengths stand behind it, since its writer did not know them before (flag 3). */
const sumsFollow = 8

/** Whether the sum and the two lengths are those of the directory, or absent where they follow. */
function isSums(bytes: Buffer, { crc, packedSize, size }: Entry, mayBeAbsent: boolean): boolean {
  const sums = [bytes.readUInt32LE(0), bytes.readUInt32LE(4), bytes.readUInt32LE(8)]
  const absent = mayBeAbsent && sums.every((sum) => sum === 0)
  return absent || (sums[0] === crc && sums[1] === packedSize && sums[2] === size)
}

/** Where the next member begins: behind the sums that follow, with their signature or, as some write them, without. */
function endOf(file: number, entry: Entry, end: number): number {
  if (!(entry.flags & sumsFollow)) return end
  const bytes = readSpan(file, { start: end, end: end + 16 }, 16, 'The sums of a member')
  const signed = bytes.readUInt32LE(0) === signatures.sums
  if (!isSums(bytes.subarray(signed ? 4 : 0), entry, false))
    throw damaged(`The sums after ${entry.name} do not match the directory`)
  return end + (signed ? 16 : 12)
}

function* readMember(file: number, entry: Entry, start: number): Generator<Uint8Array> {
  let sum = 0
  let size = 0
  const take = (bytes: Uint8Array): Uint8Array => {
    size += bytes.length
    if (size > entry.size) throw damaged(`${entry.name} is longer than its entry in the directory`)
    sum = crc32(bytes, sum)
    return bytes
  }
  const chunks = packedChunks(file, entry, start)
  if (entry.method === 0) for (const chunk of chunks) yield take(chunk)
  else for (const chunk of inflated(chunks, entry)) yield take(chunk)
  if (size !== entry.size || sum !== entry.crc) throw damaged(`${entry.name} does not match the directory`)
}

function* packedChunks(file: number, entry: Entry, start: number): Generator<Buffer> {
  const step = entry.method === 0 ? storedChunk : packedChunk
  for (let at = start; at < start + entry.packedSize; at += step)
    yield readSpan(file, { start: at, end: Math.min(at + step, start + entry.packedSize) }, step, entry.name)
}

function* inflated(chunks: Iterable<Uint8Array>, { name, packedSize }: Entry): Generator<Uint8Array> {
  const out: Uint8Array[] = []
  const inflate = new Inflate((bytes) => void out.push(bytes))
  let read = 0
  for (const chunk of chunks) {
    read += chunk.length
    try {
      inflate.push(chunk, read === packedSize)
    } catch (reason) {
      throw damaged(`${name} does not unpack`, reason)
    }
    yield* out.splice(0)
  }
}
