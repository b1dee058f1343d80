import { escapedText, givenText } from '../postgres/escaped-text.ts'
import type { ColumnType, Value } from '../schema/table.ts'

/**
 * Rows in PostgreSQL's binary format of COPY (https://www.postgresql.org/docs/current/sql-copy.html, "Binary Format"):
 * the neutral form of a transfer. A server returns the bytes that were written to it, so that both sides are compared
 * by the digests of these bytes.
 */

/** The beginning: signature, no flags, no extension. */
export const copyHeader = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')

/** The end. */
export const copyTrailer = Buffer.from([0xff, 0xff])

/** Bytes of a buffer that is filled; a larger row makes it grow. */
const firstCapacity = 512 * 1024

/** Writes rows into a buffer of its own. */
export interface RowWriter {
  row(values: readonly Value[]): void
  readonly length: number
  /** The bytes so far; the writer begins again. */
  take(): Buffer
}

/** Writes rows with columns of these types, in their order. */
export function createRowWriter(types: readonly ColumnType[]): RowWriter {
  let buffer = Buffer.allocUnsafe(firstCapacity)
  let length = 0
  const reserve = (bytes: number) => {
    if (length + bytes <= buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, length + bytes))
    buffer.copy(larger, 0, 0, length)
    buffer = larger
  }
  const int32 = (value: number) => {
    length = buffer.writeInt32BE(value, length)
  }
  const int64 = (value: number) => {
    const high = Math.floor(value / 2 ** 32)
    length = buffer.writeInt32BE(high, length)
    length = buffer.writeUInt32BE(value - high * 2 ** 32, length)
  }
  const bytes = (value: Uint8Array) => {
    buffer.set(value, length)
    length += value.length
  }

  const writers: Readonly<Record<ColumnType, (value: Value) => void>> = {
    timestamptz: notMoved,
    numeric: notMoved,
    text(value) {
      const text = escapedText(value as string)
      // A character of UTF-16 takes three bytes at most.
      reserve(4 + text.length * 3)
      const written = buffer.write(text, length + 4)
      int32(written)
      length += written
    },
    int2(value) {
      reserve(6)
      int32(2)
      length = buffer.writeInt16BE(value as number, length)
    },
    int4(value) {
      reserve(8)
      int32(4)
      int32(value as number)
    },
    int8(value) {
      reserve(12)
      int32(8)
      int64(value as number)
    },
    float8(value) {
      reserve(12)
      int32(8)
      length = buffer.writeDoubleBE(value as number, length)
    },
    bool(value) {
      reserve(5)
      int32(1)
      buffer[length++] = value ? 1 : 0
    },
    bytea(value) {
      const given = value as Uint8Array
      reserve(4 + given.length)
      int32(given.length)
      bytes(given)
    },
    varbit(value) {
      const given = value as Uint8Array
      reserve(8 + given.length)
      int32(4 + given.length)
      int32(given.length * 8)
      bytes(given)
    },
    vector(value) {
      const given = value as Uint8Array
      reserve(8 + given.length)
      int32(4 + given.length)
      length = buffer.writeUInt16BE(given.length / 4, length)
      length = buffer.writeUInt16BE(0, length)
      bytes(given)
      buffer.subarray(length - given.length, length).swap32()
    },
    tsvector(value) {
      const terms = value as readonly string[]
      reserve(8 + terms.reduce((sum, term) => sum + term.length * 3 + 3, 0))
      const at = length
      int32(0)
      int32(terms.length)
      for (const term of terms) {
        length += buffer.write(term, length)
        // The end of the term, and no positions.
        length = buffer.writeUIntBE(0, length, 3)
      }
      buffer.writeInt32BE(length - at - 4, at)
    },
  }
  const fields = types.map((type) => writers[type])

  return {
    row(values) {
      reserve(2)
      length = buffer.writeInt16BE(fields.length, length)
      for (let at = 0; at < fields.length; at++) {
        const value = values[at]!
        if (value !== null) fields[at]!(value)
        else {
          reserve(4)
          int32(-1)
        }
      }
    },
    get length() {
      return length
    },
    take() {
      const taken = buffer.subarray(0, length)
      buffer = Buffer.allocUnsafe(firstCapacity)
      length = 0
      return taken
    },
  }
}

/** Reads rows of such chunks, which are cut anywhere. Bytes of a row are its own. */
export interface RowReader {
  /** The rows that are whole by now. */
  read(chunk: Uint8Array): Value[][]
  /** Throws where the rows break off. */
  end(): void
}

/** Reads rows with columns of these types; a row may be cut anywhere between two chunks. */
export function createRowReader(types: readonly ColumnType[]): RowReader {
  let rest: Buffer = Buffer.alloc(0)
  let isBegun = false
  let isEnded = false

  return {
    read(chunk) {
      const bytes =
        rest.length > 0 ? Buffer.concat([rest, chunk]) : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
      const rows: Value[][] = []
      let at = 0
      if (!isBegun) {
        if (bytes.length < copyHeader.length) {
          rest = Buffer.from(bytes)
          return rows
        }
        if (!bytes.subarray(0, copyHeader.length).equals(copyHeader))
          throw new Error('The rows begin in another format')
        isBegun = true
        at = copyHeader.length
      }
      for (let next = endOf(bytes, at); next !== undefined; next = endOf(bytes, at)) {
        rows.push(rowAt(bytes, at + 2))
        at = next
      }
      if (!isEnded && bytes.length - at >= 2 && bytes.readInt16BE(at) === -1) isEnded = true
      rest = Buffer.from(bytes.subarray(at))
      return rows
    },
    end() {
      if (!isEnded) throw new Error('The rows break off')
    },
  }

  /** The end of the row that begins there; undefined for one that is not whole yet, and at the end of all. */
  function endOf(bytes: Buffer, begin: number): number | undefined {
    if (bytes.length - begin < 2) return undefined
    const count = bytes.readInt16BE(begin)
    if (count === -1) return undefined
    if (count !== types.length) throw new Error(`A row has ${count} columns in place of ${types.length}`)
    let at = begin + 2
    for (let field = 0; field < count; field++) {
      if (bytes.length - at < 4) return undefined
      at += 4 + Math.max(0, bytes.readInt32BE(at))
    }
    return at <= bytes.length ? at : undefined
  }

  function rowAt(bytes: Buffer, begin: number): Value[] {
    let at = begin
    return types.map((type) => {
      const length = bytes.readInt32BE(at)
      at += 4
      if (length < 0) return null
      const value = readers[type](bytes.subarray(at, at + length))
      at += length
      return value
    })
  }
}

/** No table with such a column is moved. */
function notMoved(): never {
  throw new Error('Columns of this type are not moved')
}

const readers: Readonly<Record<ColumnType, (bytes: Buffer) => Value>> = {
  timestamptz: notMoved,
  numeric: notMoved,
  text: (bytes) => givenText(bytes.toString('utf8')),
  int2: (bytes) => bytes.readInt16BE(),
  int4: (bytes) => bytes.readInt32BE(),
  int8: (bytes) => bytes.readInt32BE() * 2 ** 32 + bytes.readUInt32BE(4),
  float8: (bytes) => bytes.readDoubleBE(),
  bool: (bytes) => bytes[0]!,
  bytea: (bytes) => Buffer.from(bytes),
  varbit: (bytes) => Buffer.from(bytes.subarray(4)),
  vector: (bytes) => Buffer.from(bytes.subarray(4)).swap32(),
  tsvector() {
    throw new Error('Lists of terms are not read')
  },
}
