import { close, closeSync, fstatSync, openSync, read, readSync } from 'node:fs'
import { endianness } from 'node:os'
import { crc32 } from 'node:zlib'
import { format, type Header, layoutOf, longestHeader, roundUp } from './vector-file.ts'
import { openWordTable } from './word-table.ts'

/** Word vectors as they are used. */
export interface WordVectors {
  readonly dimension: number
  /** Of the file's content: vectors of different builds are never compared. */
  readonly digest: string
  /** The word's row, or undefined for an unknown word. */
  row(word: string): number | undefined
  weight(row: number): number
  /** Adds the row's unit vector times `scale`. Throws where the file cannot be read. */
  addTo(sum: Float32Array, row: number, scale: number): void
}

/** Rows that are read one by one, some 3 µs each, before all of them are read into memory in the background. */
const rowsAlone = 64

/**
 * Opens a file that `encodeVectors` made: reads its 3 MB of words and weights, and the 39 MB of its rows once some are asked for.
 * The file stays open until then, so that one which replaces it changes nothing. Throws where it is something else, broken off,
 * or damaged before its rows, which are not checked.
 */
export function readVectors(path: string): WordVectors {
  const file = openSync(path, 'r')
  try {
    return vectorsIn(file, path)
  } catch (reason) {
    closeSync(file)
    throw reason
  }
}

function vectorsIn(file: number, path: string): WordVectors {
  const { size } = fstatSync(file)
  const first = readPart(file, path, 0, Math.min(size, longestHeader))
  const end = first.indexOf(10)
  const header = headerOf(first.toString('utf8', 0, Math.max(0, end)))
  if (header?.format !== format || endianness() !== 'LE')
    throw new Error(`${path} holds no word vectors for this build`)
  const { dimension, words: count } = header
  const layout = layoutOf(header, roundUp(end + 1))
  if (size < layout.end) throw new Error(`${path} breaks off`)
  if (size > layout.end) throw new Error(`${path} holds more than word vectors`)
  // All but the rows, in memory as in the file: each part begins at a multiple of 4.
  const head = readPart(file, path, 0, layout.rows)
  if (crc32(head.subarray(layout.list)) !== header.check) throw new Error(`${path} is damaged`)
  const { buffer } = head
  const scales = new Float32Array(buffer, layout.scales, count)
  const weights = new Float32Array(buffer, layout.weights, count)
  const starts = new Uint32Array(buffer, layout.starts, count + 1)
  const slots = new Uint32Array(buffer, layout.slots, (layout.rows - layout.slots) / 4)
  const { find } = openWordTable(new Uint8Array(buffer, layout.list, header.list), { starts, slots })

  let rows: Int8Array | undefined
  let alone = 0
  return {
    dimension,
    digest: header.digest,
    row: find,
    weight: (row) => weights[row]!,
    addTo(sum, row, scale) {
      const factor = scale * scales[row]!
      const values = rows ?? rowAlone(row)
      const start = rows ? row * dimension : 0
      for (let column = 0; column < dimension; column++) sum[column]! += factor * values[start + column]!
    },
  }

  function rowAlone(row: number): Int8Array {
    if (++alone === rowsAlone) readRows()
    const { buffer, byteOffset } = readPart(file, path, layout.rows + row * dimension, dimension)
    return new Int8Array(buffer, byteOffset, dimension)
  }

  /** Reads all rows, while those that are asked for meanwhile are read alone; so they stay where this fails. */
  function readRows(): void {
    const all = Buffer.allocUnsafeSlow(layout.end - layout.rows)
    const readOn = (at: number) =>
      read(file, all, at, all.length - at, layout.rows + at, (error, length) => {
        if (error || length === 0) return
        if (at + length < all.length) return readOn(at + length)
        rows = new Int8Array(all.buffer)
        close(file, () => {})
      })
    readOn(0)
  }
}

/** Bytes of a file, aligned in memory. */
function readPart(file: number, path: string, from: number, length: number): Buffer<ArrayBuffer> {
  const part = Buffer.allocUnsafeSlow(length)
  for (let at = 0; at < length; ) {
    const more = readSync(file, part, at, length - at, from + at)
    if (more === 0) throw new Error(`${path} breaks off`)
    at += more
  }
  return part
}

/** The first line; undefined where it is no JSON. */
function headerOf(line: string): Header | undefined {
  try {
    return JSON.parse(line) as Header
  } catch {
    return undefined
  }
}
