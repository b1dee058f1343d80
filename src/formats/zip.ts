import { closeSync, fstatSync, openSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { Inflate } from 'fflate'
import { damaged, unsupported } from './file-error.ts'
import { readSpan } from './file-span.ts'

/** How much is unpacked: bytes of all members together, and how many times its packed size (text packs 3 to 10 times). */
export const zipLimits = { bytes: 4 * 1024 ** 3, ratio: 200 } as const

/** A member of a zip, as its own header and the central directory agree. */
export interface ZipMember {
  readonly name: string
  /** Unpacked bytes by the directory; `read` checks them. */
  readonly size: number
  readonly packedSize: number
}

/** A zip read by its central directory, since from the front a member of unknown length has no certain end. */
export type ZipFile = ReturnType<typeof openZip>

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

/** The members that an archive may have. */
export interface ZipShape {
  readonly members: number
  /** Whether names may hold folders, such as `assets/icon/main.png`. Members are read by name and never unpacked to the disk. */
  readonly folders: boolean
}

/** A package has six members, in no folder. */
const packageShape: ZipShape = { members: 64, folders: false }

/** Archives of other programs: an export of conversations holds each picture that was ever sent. */
export const foreignShape: ZipShape = { members: 50_000, folders: true }

/** The longest directory of an archive: bytes. 50,000 entries of 46 bytes with names of 100. */
const longestDirectory = 8 * 1024 ** 2

/** Bytes that are unpacked at once: a thousand times as much may come out. */
const packedChunk = 16 * 1024
const storedChunk = 1024 ** 2

/** Opens a zip and checks its structure. Throws a FileError for one that is damaged, ambiguous or made to harm. */
export function openZip(path: string, shape: ZipShape = packageShape) {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const { entries, start } = readDirectory(file, size, shape)
    const starts = locateData(file, entries, start)
    return {
      members: entries,
      /** The member's bytes in chunks, flat in memory. Throws when it does not match the directory. */
      read: (name: string) => readMember(file, entries.get(name)!, starts.get(name)!),
      close: () => closeSync(file),
    }
  } catch (reason) {
    closeSync(file)
    throw reason
  }
}

/** The bytes of all members when they are unpacked. Throws as `openZip` does. */
export function unpackedSize(path: string): number {
  const { members, close } = openZip(path, foreignShape)
  close()
  return [...members.values()].reduce((sum, { size }) => sum + size, 0)
}

function readDirectory(
  file: number,
  size: number,
  shape: ZipShape,
): { readonly entries: ReadonlyMap<string, Entry>; readonly start: number } {
  const end = findEnd(file, size)
  const [count, length, start] = [end.readUInt16LE(10), end.readUInt32LE(12), end.readUInt32LE(16)]
  if (start === 0xffffffff || count === 0xffff)
    throw unsupported('The file is a ZIP64 archive: unpack it, and use the file inside')
  if (end.readUInt16LE(4) !== 0 || end.readUInt16LE(6) !== 0 || end.readUInt16LE(8) !== count)
    throw unsupported('The package is part of a split archive')
  if (count > shape.members) throw damaged(`The package has more than ${shape.members} members`)
  if (start + length !== size - endSize - end.readUInt16LE(20))
    throw damaged('The directory of the package is not at its offset')
  const bytes = readSpan(file, { start, end: start + length }, longestDirectory, 'The directory of the package')
  const entries = new Map<string, Entry>()
  let at = 0
  for (let index = 0; index < count; index++) {
    const entry = readEntry(bytes, at, shape)
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

function readEntry(bytes: Buffer, at: number, { folders }: ZipShape): Entry {
  if (at + entrySize > bytes.length || bytes.readUInt32LE(at) !== signatures.entry)
    throw damaged('The directory of the package is damaged')
  const name = bytes.toString('utf8', at + entrySize, at + entrySize + bytes.readUInt16LE(at + 28))
  if (!(folders ? isInside(name) : isPlainName(name)))
    throw damaged(`The package holds a member with the name ${JSON.stringify(name.slice(0, 60))}`)
  const [flags, method] = [bytes.readUInt16LE(at + 8), bytes.readUInt16LE(at + 10)]
  if (flags & 1) throw unsupported(`${name} is encrypted by zip; aichat reads age files`)
  if (method !== 0 && method !== 8) throw unsupported(`${name} is packed by method ${method}; aichat reads deflate`)
  // The type of a Unix file in its attributes (stat.h): 0, as others write it, a plain one (8), or a folder (4).
  const type = bytes.readUInt16LE(at + 40) >>> 12
  const isFolder = folders && type === 4 && name.endsWith('/')
  if (bytes.readUInt16LE(at + 34) !== 0 || (type !== 0 && type !== 8 && !isFolder))
    throw damaged(`${name} is not a plain file`)
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

/** A package has no folders; a path in a name is an attack on the unpacking side. */
function isPlainName(name: string): boolean {
  return /^[\w][\w.-]{0,99}$/.test(name) && !name.includes('..')
}

/** Whether a path stays inside the archive: relative, of slashes only, without steps upwards and control characters. */
function isInside(name: string): boolean {
  return name.length <= 1024 && !/^\/|[\\\x00-\x1f\x7f]/.test(name) && !name.split('/').includes('..')
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

/** Where each member's data begins by its own header, which must agree; members follow each other without a gap. */
function locateData(file: number, entries: ReadonlyMap<string, Entry>, end: number): ReadonlyMap<string, number> {
  const starts = new Map<string, number>()
  let free = 0
  for (const entry of [...entries.values()].sort((left, right) => left.headerAt - right.headerAt)) {
    const header = readSpan(file, { start: entry.headerAt, end: entry.headerAt + headerSize }, headerSize, 'A header')
    const nameLength = header.readUInt16LE(26)
    const nameAt = entry.headerAt + headerSize
    const name = readSpan(file, { start: nameAt, end: nameAt + nameLength }, 0xffff, 'A name').toString('utf8')
    const start = nameAt + nameLength + header.readUInt16LE(28)
    const extra = readSpan(file, { start: nameAt + nameLength, end: start }, 0xffff, 'The fields of a header')
    const sums = sumsOf(header, extra)
    if (
      entry.headerAt !== free ||
      header.readUInt32LE(0) !== signatures.header ||
      name !== entry.name ||
      !header.subarray(4, 14).equals(entry.common) ||
      !isSums(sums, entry, (entry.flags & sumsFollow) !== 0)
    )
      throw damaged(`The header of ${entry.name} does not match the directory`)
    starts.set(entry.name, start)
    free = endOf(file, entry, start + entry.packedSize, sums.isWide)
  }
  // Bytes that belong to no member may be meant for another kind of reader.
  if (free !== end) throw damaged('The package has bytes before its directory that belong to nothing')
  return starts
}

/** A member's sums and lengths stand behind it, since its writer did not know them before (flag 3). */
const sumsFollow = 8

/** The sum and the two lengths of a member, as one of its headers has them. */
interface Sums {
  readonly crc: number
  readonly packedSize: number
  readonly size: number
  /** Whether the lengths have 64 bits, as writers choose that do not know yet how long a member gets (ZIP64). */
  readonly isWide: boolean
}

/** The sums of a member's own header; lengths of 64 bits are in its extra field 1 (APPNOTE 4.5.3). */
function sumsOf(header: Buffer, extra: Buffer): Sums {
  const [crc, packedSize, size] = [14, 18, 22].map((at) => header.readUInt32LE(at)) as [number, number, number]
  if (packedSize === 0xffffffff && size === 0xffffffff)
    for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2))
      if (extra.readUInt16LE(at) === 1 && extra.readUInt16LE(at + 2) >= 16 && at + 20 <= extra.length)
        return { crc, ...wideLengths(extra, at + 4, 'size first'), isWide: true }
  return { crc, packedSize, size, isWide: false }
}

/** Two lengths of 64 bits; a number above 2^53 is that of no member anyway. */
function wideLengths(bytes: Buffer, at: number, order: 'size first' | 'packed first') {
  const [first, second] = [Number(bytes.readBigUInt64LE(at)), Number(bytes.readBigUInt64LE(at + 8))]
  return order === 'size first' ? { size: first, packedSize: second } : { packedSize: first, size: second }
}

/** Whether sums are those of the directory, or absent where they follow. */
function isSums(sums: Omit<Sums, 'isWide'>, { crc, packedSize, size }: Entry, mayBeAbsent: boolean): boolean {
  if (mayBeAbsent && sums.crc === 0 && sums.packedSize === 0 && sums.size === 0) return true
  return sums.crc === crc && sums.packedSize === packedSize && sums.size === size
}

/** Where the next member begins: behind the sums that follow, with their signature or, as some write them, without. */
function endOf(file: number, entry: Entry, end: number, isWide: boolean): number {
  if (!(entry.flags & sumsFollow)) return end
  const length = isWide ? 20 : 12
  const bytes = readSpan(file, { start: end, end: end + length + 4 }, length + 4, 'The sums of a member')
  const signed = bytes.readUInt32LE(0) === signatures.sums
  const at = signed ? 4 : 0
  const lengths = isWide
    ? wideLengths(bytes, at + 4, 'packed first')
    : { packedSize: bytes.readUInt32LE(at + 4), size: bytes.readUInt32LE(at + 8) }
  if (!isSums({ crc: bytes.readUInt32LE(at), ...lengths }, entry, false))
    throw damaged(`The sums after ${entry.name} do not match the directory`)
  return end + length + at
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
