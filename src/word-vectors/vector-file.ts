import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { endianness } from 'node:os'
import { createWordTable } from './word-table.ts'

/** Word vectors as they come out of training. */
export interface TrainedVectors {
  readonly dimension: number
  readonly words: readonly string[]
  /** How much each word tells in a sentence. */
  readonly weights: Float32Array
  /** A row of `dimension` per word, of any length. */
  readonly vectors: Float32Array
}

/** Word vectors as they are used. */
export interface WordVectors {
  readonly dimension: number
  /** Of the file's content: vectors of different builds are never compared. */
  readonly digest: string
  /** The word's row, or undefined for an unknown word. */
  row(word: string): number | undefined
  weight(row: number): number
  /** Adds the row's unit vector times `scale`. */
  addTo(sum: Float32Array, row: number, scale: number): void
}

/**
 * The file: a line of JSON, padded with spaces to a multiple of 64 bytes; the words, one a line, padded likewise; a float32
 * scale and a float32 weight per word; then a row of int8 per word: times the word's scale they are the unit
 * vector. Little-endian, so that it can be read in place.
 */
export function encodeVectors({ dimension, words, weights, vectors }: TrainedVectors): Buffer {
  const scales = new Float32Array(words.length)
  const rows = new Int8Array(words.length * dimension)
  words.forEach((_, row) => {
    const vector = vectors.subarray(row * dimension, (row + 1) * dimension)
    let largest = 0
    for (const value of vector) largest = Math.max(largest, Math.abs(value))
    const length = Math.hypot(...vector)
    if (largest === 0) return
    scales[row] = largest / 127 / length
    for (let at = 0; at < dimension; at++) rows[row * dimension + at] = Math.round((vector[at]! / largest) * 127)
  })
  const list = padded(Buffer.from(words.join('\n')))
  const body = [list, bytesOf(scales), bytesOf(weights), bytesOf(rows)]
  const digest = createHash('sha256')
  for (const part of body) digest.update(part)
  const header = { format, dimension, words: words.length, list: list.length, digest: digest.digest('hex') }
  return Buffer.concat([padded(Buffer.from(`${JSON.stringify(header)}\n`)), ...body])
}

/** Reads a file that `encodeVectors` made. Throws where it is something else or broken off. */
export function readVectors(path: string): WordVectors {
  const bytes = readFileSync(path)
  const end = bytes.indexOf(10)
  const header = headerOf(bytes.toString('utf8', 0, Math.max(0, end)))
  if (header?.format !== format || endianness() !== 'LE')
    throw new Error(`${path} holds no word vectors for this build`)
  const { dimension, words: count } = header
  let at = roundUp(end + 1)
  const take = (length: number) => {
    const part = bytes.subarray(at, at + length)
    if (part.length < length) throw new Error(`${path} breaks off`)
    at += length
    return part
  }
  const list = take(header.list).toString('utf8').trimEnd()
  const scales = floatsOf(take(count * 4))
  const weights = floatsOf(take(count * 4))
  const packed = take(count * dimension)
  if (at !== bytes.length) throw new Error(`${path} holds more than word vectors`)
  const rows = new Int8Array(packed.buffer, packed.byteOffset, packed.length)
  const table = createWordTable(list)
  if (table.size !== count) throw new Error(`${path} is damaged`)
  return {
    dimension,
    digest: header.digest,
    row: table.find,
    weight: (row) => weights[row]!,
    addTo(sum, row, scale) {
      const factor = scale * scales[row]!
      const start = row * dimension
      for (let column = 0; column < dimension; column++) sum[column]! += factor * rows[start + column]!
    },
  }
}

const format = 'aichat word vectors 1'

/** The first line; undefined where it is no JSON. */
function headerOf(line: string): Header | undefined {
  try {
    return JSON.parse(line) as Header
  } catch {
    return undefined
  }
}

interface Header {
  readonly format: string
  readonly dimension: number
  readonly words: number
  /** The bytes that the words take. */
  readonly list: number
  readonly digest: string
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(roundUp(bytes.length) - bytes.length, 32)])
}

function roundUp(length: number): number {
  return Math.ceil(length / 64) * 64
}

function bytesOf(array: Float32Array | Int8Array): Buffer {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength)
}

/** A copy, since a file's bytes need not lie aligned in memory. */
function floatsOf(bytes: Buffer): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer)
}
