import { createHash } from 'node:crypto'

/**
 * The full-text index: for each term, and each block of 4,096 memories of its scope, a row with two sets of memories, those
 * with the term in their own text and those with it around them. A set is a list of 16-bit offsets or, where it holds 256
 * and more, a bit for each memory of the block: a row stays small enough to are in its table's pages.
 */
const blockBits = 12
const blockSize = 2 ** blockBits
const bitmapBytes = blockSize / 8

/** The block of a memory's number within its scope. */
export function blockOf(number: number): number {
  return number >> blockBits
}

/** The numbers within the scope that a set of a block holds, in ascending order. */
export function readBlock(block: number, bytes: Buffer): number[] {
  const first = block << blockBits
  const numbers: number[] = []
  if (bytes.length !== bitmapBytes) {
    for (let at = 0; at < bytes.length; at += 2) numbers.push(first + bytes.readUInt16LE(at))
    return numbers
  }
  bytes.forEach((byte, at) => {
    for (let rest = byte; rest !== 0; rest &= rest - 1) numbers.push(first + at * 8 + 31 - Math.clz32(rest & -rest))
  })
  return numbers
}

/** A set of a block without some numbers and with others, as `readBlock` reads it. @param before absent for an empty one */
export function changeBlock(
  before: Buffer | undefined,
  { added, removed }: { readonly added: readonly number[]; readonly removed: readonly number[] },
): Buffer {
  if (before === undefined) return writeList(added)
  if (added.length === 0 && removed.length === 0) return before
  if (before.length === bitmapBytes) {
    const bits = Buffer.from(before)
    for (const number of removed) bits[offsetOf(number) >> 3]! &= ~(1 << (number & 7))
    for (const number of added) bits[offsetOf(number) >> 3]! |= 1 << (number & 7)
    return removed.length === 0 ? bits : writeList(readBlock(0, bits))
  }
  const gone = new Set(removed.map(offsetOf))
  return writeList([...readBlock(0, before).filter((offset) => !gone.has(offset)), ...added])
}

function offsetOf(number: number): number {
  return number & (blockSize - 1)
}

/** Numbers in any order, and some of them twice. */
function writeList(numbers: readonly number[]): Buffer {
  const offsets = [...new Set(numbers.map(offsetOf))].sort((one, other) => one - other)
  if (offsets.length * 2 < bitmapBytes) {
    const bytes = Buffer.allocUnsafe(offsets.length * 2)
    offsets.forEach((offset, at) => {
      bytes.writeUInt16LE(offset, at * 2)
    })
    return bytes
  }
  const bytes = Buffer.alloc(bitmapBytes)
  for (const offset of offsets) bytes[offset >> 3]! |= 1 << (offset & 7)
  return bytes
}

/** Bytes up to which a term is indexed as it is: an index takes no key of 2,704. */
const longestTerm = 200

/** A term as the index knows it: a longer one by its beginning, by which it is found too, and its digest. No term has a `#`. */
export function indexedTerm(term: string): string {
  if (Buffer.byteLength(term) <= longestTerm) return term
  return `${indexedBeginning(term)}#${createHash('sha256').update(term).digest('base64url')}`
}

/** The beginning of terms as the index knows it. */
export function indexedBeginning(text: string): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= longestTerm) return text
  let end = longestTerm
  // Whole characters of UTF-8.
  while ((bytes[end]! & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}
