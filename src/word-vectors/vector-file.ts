import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { indexWords, slotsFor } from './word-table.ts'

/** Word vectors as they come out of training. */
export interface TrainedVectors {
  readonly dimension: number
  readonly words: readonly string[]
  /** How much each word tells in a sentence. */
  readonly weights: Float32Array
  /** A row of `dimension` per word, of any length. */
  readonly vectors: Float32Array
}

/** The first line of the file. */
export interface Header {
  readonly format: string
  readonly dimension: number
  readonly words: number
  /** The bytes that the words take. */
  readonly list: number
  /** Of words, scales, weights and rows: vectors of different builds are never compared. */
  readonly digest: string
  /** The CRC-32 of all that stands between this line and the rows. */
  readonly check: number
}

export const format = 'aichat word vectors 2'

/** The longest first line, with its padding: bytes. */
export const longestHeader = 512

/**
 * The file: a line of JSON, padded with spaces to a multiple of 64 bytes; the words, one a line, padded likewise; a float32
 * scale and a float32 weight per word; the index of the words (uint32: their starts, one more than words, and the slots); then
 * a row of int8 per word: times the word's scale they are the unit vector. Little-endian, so that it can be used in place. The
 * layout tells at which byte each part begins.
 */
export function layoutOf({ dimension, words, list }: Header, begin: number) {
  const scales = begin + list
  const weights = scales + words * 4
  const starts = weights + words * 4
  const slots = starts + (words + 1) * 4
  const rows = slots + slotsFor(words) * 4
  return { list: begin, scales, weights, starts, slots, rows, end: rows + words * dimension }
}

/** The largest number of a row, either sign: 0.4 % of a vector's length; 127 would add 13 MB to a packed file. */
const finest = 15

/** Writes a file of this layout. Throws where a word is in the list twice. */
export function encodeVectors({ dimension, words, weights, vectors }: TrainedVectors): Buffer {
  const scales = new Float32Array(words.length)
  const rows = new Int8Array(words.length * dimension)
  words.forEach((_, row) => {
    const vector = vectors.subarray(row * dimension, (row + 1) * dimension)
    let largest = 0
    for (const value of vector) largest = Math.max(largest, Math.abs(value))
    const length = Math.hypot(...vector)
    if (largest === 0) return
    scales[row] = largest / finest / length
    for (let at = 0; at < dimension; at++) rows[row * dimension + at] = Math.round((vector[at]! / largest) * finest)
  })
  const plain = Buffer.from(words.join('\n'))
  const { starts, slots, size } = indexWords(plain)
  if (size !== words.length) throw new Error('train: a word stands in the list twice')
  const list = padded(plain)
  const content = [list, bytesOf(scales), bytesOf(weights)]
  const digest = createHash('sha256')
  for (const part of [...content, bytesOf(rows)]) digest.update(part)
  const head = Buffer.concat([...content, bytesOf(starts), bytesOf(slots)])
  const sizes = { dimension, words: words.length, list: list.length }
  const header: Header = { format, ...sizes, digest: digest.digest('hex'), check: crc32(head) }
  return Buffer.concat([padded(Buffer.from(`${JSON.stringify(header)}\n`)), head, bytesOf(rows)])
}

/** The next multiple of 64. */
export function roundUp(length: number): number {
  return Math.ceil(length / 64) * 64
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(roundUp(bytes.length) - bytes.length, 32)])
}

function bytesOf(array: Float32Array | Int8Array | Uint32Array): Buffer {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength)
}
