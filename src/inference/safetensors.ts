/**
 * Reads `.safetensors`: eight bytes of header length, a JSON header of names, types, shapes and offsets, then the numbers.
 * Format: https://github.com/huggingface/safetensors#format. Nothing in a header is believed before it is checked against the file.
 */
import { createHash } from 'node:crypto'
import { type BigIntStats, readSync } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { AppError } from '../errors.ts'
import type { ElementType, ExternalTensor } from './nodes.ts'

/** The element types of the format that graphs can use, with their size in bytes. */
const storedTypes = {
  F64: { type: 'float64', bytes: 8 },
  F32: { type: 'float32', bytes: 4 },
  F16: { type: 'float16', bytes: 2 },
  BF16: { type: 'bfloat16', bytes: 2 },
  I64: { type: 'int64', bytes: 8 },
  I32: { type: 'int32', bytes: 4 },
  I8: { type: 'int8', bytes: 1 },
  U8: { type: 'uint8', bytes: 1 },
  BOOL: { type: 'bool', bytes: 1 },
} as const satisfies Record<string, { type: ElementType; bytes: number }>

export type StoredType = keyof typeof storedTypes

export interface TensorEntry {
  readonly name: string
  readonly dtype: StoredType
  readonly shape: readonly number[]
  /** Bytes from the start of the file. */
  readonly offset: number
  readonly length: number
}

export interface TensorFile {
  readonly path: string
  readonly tensors: ReadonlyMap<string, TensorEntry>
  /** The file's own key and value texts. */
  readonly metadata: ReadonlyMap<string, string>
  /** The bytes of a tensor as they are in the file. */
  bytes(name: string): Promise<Uint8Array>
  /** The bytes of some rows of it, along the first axis: a table of gigabytes is read row by row. */
  rowBytes(name: string, from: number, count: number): Promise<Uint8Array>
  /** The numbers of one row at once, as `floats`: a row that is in the system's cache takes microseconds. */
  row(name: string, row: number): Float32Array
  /** The numbers of a floating-point tensor, widened or narrowed to 32 bits. */
  floats(name: string): Promise<Float32Array>
  /** The same numbers in place, as a graph's external data; `location` is relative to the folder of this file. */
  external(name: string): ExternalTensor
  /** The SHA-256, in hexadecimal, of the whole file or of the numbers behind its header. */
  digest(part: 'file' | 'numbers'): Promise<string>
  /** Which file this is and when it was last written: another text where another file has taken its place. */
  readonly identity: string
  /** Throws an AppError where the path no longer leads to this very file, since data read by path may be another file's. */
  requireUnchanged(): Promise<void>
  close(): Promise<void>
}

/** The format allows no larger header. */
const longestHeader = 100_000_000

/** How many bytes a tensor's numbers take. */
export function byteLength({ dtype, shape }: Pick<TensorEntry, 'dtype' | 'shape'>): number {
  return shape.reduce((product, dimension) => product * dimension, storedTypes[dtype].bytes)
}

/** A file with hundreds of wrong entries is named by the first ones. */
const shownProblems = 20

/** Opens a file and checks its header against its size; throws an AppError that names the file and everything that is wrong with it. */
export async function openTensorFile(path: string): Promise<TensorFile> {
  const file = await openFile(path)
  try {
    const status = await file.stat({ bigint: true })
    const size = Number(status.size)
    const header = await readHeader(file, path, size)
    return createTensorFile(path, file, parseHeader(header.json, header.end, size, path), identityOf(status))
  } catch (thrown) {
    await file.close()
    throw thrown
  }
}

/** Widens or narrows stored floating-point numbers to 32 bits; throws on types that hold none. */
export function toFloats(bytes: Uint8Array, dtype: StoredType): Float32Array {
  if (dtype === 'F32') return new Float32Array(aligned(bytes))
  if (dtype === 'F64') return Float32Array.from(new Float64Array(aligned(bytes)))
  const halves = new Uint16Array(aligned(bytes))
  if (dtype === 'BF16') {
    // The upper half of a 32-bit number, which is all that differs.
    const words = new Uint32Array(halves.length)
    for (let i = 0; i < halves.length; i++) words[i] = halves[i]! << 16
    return new Float32Array(words.buffer)
  }
  if (dtype === 'F16') return Float32Array.from(halves, floatOfHalf)
  throw new TypeError(`${dtype} holds no floating-point numbers`)
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r')
  } catch (thrown) {
    const missing = (thrown as NodeJS.ErrnoException).code === 'ENOENT'
    throw new AppError(missing ? 'unavailable' : 'io', `${path} ${missing ? 'is missing' : 'could not be opened'}`, {
      cause: thrown,
    })
  }
}

async function readHeader(file: FileHandle, path: string, size: number): Promise<{ json: string; end: number }> {
  const prefix = Buffer.alloc(8)
  const { bytesRead } = await file.read(prefix, 0, 8, 0)
  const length = bytesRead === 8 ? prefix.readBigUInt64LE() : 0n
  if (length < 2n || length > BigInt(longestHeader))
    throw new AppError('invalid', `${path} is not a safetensors file: it does not begin with the length of a header`)
  const end = 8 + Number(length)
  if (end > size)
    throw new AppError('invalid', `${path} is truncated: it has ${size} bytes and its header alone needs ${end}`)
  const json = Buffer.alloc(Number(length))
  await readInto(file, json, 8, path)
  return { json: json.toString('utf8'), end }
}

/** Fills an array from the file, or throws where the file ends before. */
async function readInto(file: FileHandle, content: Uint8Array, position: number, path: string): Promise<void> {
  let done = 0
  while (done < content.length) {
    const { bytesRead } = await file.read(content, done, content.length - done, position + done)
    if (bytesRead === 0) throw new AppError('invalid', `${path} is truncated: it broke off while it was read`)
    done += bytesRead
  }
}

interface Header {
  /** Where the numbers begin. */
  readonly start: number
  readonly tensors: Map<string, TensorEntry>
  readonly metadata: Map<string, string>
}

function parseHeader(json: string, start: number, size: number, path: string): Header {
  const tensors = new Map<string, TensorEntry>()
  const metadata = new Map<string, string>()
  const problems: string[] = []
  for (const [name, value] of Object.entries(parseObject(json, path))) {
    if (name === '__metadata__') for (const [key, text] of Object.entries(value ?? {})) metadata.set(key, String(text))
    else {
      const entry = parseEntry(name, value, start)
      if (typeof entry === 'string') problems.push(entry)
      else tensors.set(name, entry)
    }
  }
  if (problems.length === 0) problems.push(...layoutProblems([...tensors.values()], start, size))
  if (problems.length > 0)
    throw new AppError('invalid', `${path} is damaged or truncated`, { details: problems.slice(0, shownProblems) })
  return { start, tensors, metadata }
}

function parseObject(json: string, path: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Reported below, as any other header that is no object.
  }
  throw new AppError('invalid', `${path} is not a safetensors file: its header is not a JSON object`)
}

/** One tensor of the header, or its problem. */
function parseEntry(name: string, value: unknown, start: number): TensorEntry | string {
  const { dtype, shape, data_offsets: offsets } = (value ?? {}) as Record<string, unknown>
  if (typeof dtype !== 'string' || !Object.hasOwn(storedTypes, dtype))
    return `${name}: elements of type ${JSON.stringify(dtype)} are not known`
  if (!isCounts(shape)) return `${name}: its shape is not a list of sizes`
  if (!isCounts(offsets) || offsets.length !== 2) return `${name}: it has no pair of offsets`
  const [begin = 0, end = 0] = offsets
  const length = byteLength({ dtype: dtype as StoredType, shape })
  if (end - begin !== length)
    return `${name}: ${dtype} [${shape}] takes ${length} bytes and its offsets hold ${end - begin}`
  return { name, dtype: dtype as StoredType, shape, offset: start + begin, length }
}

function isCounts(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((item) => Number.isSafeInteger(item) && item >= 0)
}

/** The tensors must lie one behind the other, without gap or overlap, up to the last byte. */
function layoutProblems(tensors: TensorEntry[], start: number, size: number): string[] {
  const problems: string[] = []
  let end = start
  for (const { name, offset, length } of tensors.sort((a, b) => a.offset - b.offset || a.length - b.length)) {
    if (offset !== end)
      problems.push(`${name}: ${offset < end ? 'it overlaps another tensor' : 'a gap lies before it'}`)
    if (offset + length > size)
      problems.push(`${name}: it ends at byte ${offset + length} and the file has only ${size} bytes`)
    end = offset + length
  }
  if (end < size) problems.push(`${size - end} bytes follow the last tensor`)
  return problems
}

function createTensorFile(path: string, file: FileHandle, header: Header, identity: string): TensorFile {
  const { start, tensors, metadata } = header
  return {
    path: resolve(path),
    tensors,
    metadata,
    identity,
    bytes,
    rowBytes,
    row,
    floats,
    external,
    digest,
    requireUnchanged,
    close: () => file.close(),
  }

  function entry(name: string): TensorEntry {
    const found = tensors.get(name)
    if (!found) throw new AppError('invalid', `${path} has no tensor ${name}`)
    return found
  }

  async function bytes(name: string): Promise<Uint8Array> {
    const { offset, length } = entry(name)
    const content = new Uint8Array(length)
    await readInto(file, content, offset, path)
    return content
  }

  async function rowBytes(name: string, from: number, count: number): Promise<Uint8Array> {
    const { shape, offset, length } = entry(name)
    const [rows = 1] = shape
    if (from < 0 || count < 0 || from + count > rows) throw new RangeError(`${name} of ${path} has ${rows} rows`)
    const content = new Uint8Array((length / rows) * count)
    await readInto(file, content, offset + (length / rows) * from, path)
    return content
  }

  function row(name: string, index: number): Float32Array {
    const { shape, offset, length, dtype } = entry(name)
    const [rows = 1] = shape
    if (!(index >= 0 && index < rows)) throw new RangeError(`${name} of ${path} has ${rows} rows`)
    const content = new Uint8Array(length / rows)
    const read = readSync(file.fd, content, 0, content.length, offset + (length / rows) * index)
    if (read < content.length) throw new AppError('invalid', `${path} is truncated: it broke off while it was read`)
    return toFloats(content, dtype)
  }

  async function floats(name: string): Promise<Float32Array> {
    return toFloats(await bytes(name), entry(name).dtype)
  }

  function external(name: string): ExternalTensor {
    const { dtype, shape, offset, length } = entry(name)
    return { location: basename(path), offset, length, type: storedTypes[dtype].type, shape }
  }

  async function digest(part: 'file' | 'numbers'): Promise<string> {
    const hash = createHash('sha256')
    const piece = Buffer.alloc(1 << 20)
    for (let at = part === 'file' ? 0 : start; ; ) {
      const { bytesRead } = await file.read(piece, 0, piece.length, at)
      if (bytesRead === 0) return hash.digest('hex')
      hash.update(piece.subarray(0, bytesRead))
      at += bytesRead
    }
  }

  async function requireUnchanged(): Promise<void> {
    if ((await fileIdentity(path)) === identity) return
    throw new AppError('unavailable', `${path} was changed while it was read`, { details: ['load it again'] })
  }
}

/** The identity of the file at a path, as that of an open one; `gone` where there is none. */
export function fileIdentity(path: string): Promise<string> {
  return stat(path, { bigint: true }).then(identityOf, () => 'gone')
}

function identityOf({ dev, ino, size, mtimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs].join(' ')
}

/** The folder that the locations of `external` are relative to. */
export function weightsFolder(file: TensorFile): string {
  return dirname(file.path)
}

/** A buffer of just these bytes, so that typed arrays of wider elements can lie over it. */
function aligned(bytes: Uint8Array): ArrayBuffer {
  if (bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength) return bytes.buffer as ArrayBuffer
  return bytes.slice().buffer
}

/** IEEE 754 half precision: 1 sign bit, 5 exponent bits with bias 15, 10 fraction bits. */
function floatOfHalf(half: number): number {
  const sign = half & 0x8000 ? -1 : 1
  const exponent = (half >> 10) & 0x1f
  const fraction = half & 0x3ff
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}
