import { type FileHandle, open } from 'node:fs/promises'
import { extname } from 'node:path'

/**
 * Checks that a downloaded file has the format of its name: an HTML error page has a length and a hash like any other.
 * Looks at the structure alone, which costs a few reads of a file of any size; the runner checks the content.
 */

/** The longest header that is read: bytes. The safetensors library has the same bound. */
const longestHeader = 100_000_000

/** The most fields of a protobuf message that are walked over: a vocabulary has one for each of its pieces. */
const mostFields = 2_000_000

/** Bytes read at a time while walking over a file. */
const window = 64 * 1024

type Look = (file: FileHandle, bytes: number) => Promise<string | undefined>

const looks: Readonly<Record<string, Look>> = {
  '.json': json,
  '.safetensors': safetensors,
  '.gguf': gguf,
  '.wav': wav,
  // https://github.com/onnx/onnx/blob/main/onnx/onnx.proto: ModelProto.graph
  '.onnx': (file, bytes) => protobuf(file, bytes, 7, 'an ONNX model'),
  // https://github.com/google/sentencepiece/blob/master/src/sentencepiece_model.proto: ModelProto.pieces
  '.model': (file, bytes) => protobuf(file, bytes, 1, 'a SentencePiece model'),
}

/** The mismatch between a file and the ending of its name on the hub: `not an ONNX model`. Undefined when it fits. */
export async function signatureMismatch(path: string, name: string): Promise<string | undefined> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const start = (await read(file, 0, 512)).toString('latin1')
    if (/^\s*<(?:!doctype|html|\?xml|head|body)/i.test(start)) return 'a web page'
    return await looks[extname(name).toLowerCase()]?.(file, size)
  } finally {
    await file.close()
  }
}

async function json(file: FileHandle, bytes: number): Promise<string | undefined> {
  return bytes <= longestHeader && objectIn(await read(file, 0, bytes)) ? undefined : 'not a JSON object'
}

/** https://huggingface.co/docs/safetensors: the header's length, the header, and the tensors without a gap behind them. */
async function safetensors(file: FileHandle, bytes: number): Promise<string | undefined> {
  const wrong = 'not a safetensors file'
  if (bytes < 8) return wrong
  const length = Number((await read(file, 0, 8)).readBigUInt64LE())
  if (length > longestHeader || 8 + length > bytes) return wrong
  const header = objectIn(await read(file, 8, length))
  if (!header) return wrong
  const ends = Object.entries(header)
    .filter(([name]) => name !== '__metadata__')
    .map(([, tensor]) => (tensor as { data_offsets?: unknown } | null)?.data_offsets)
    .map((offsets) =>
      Array.isArray(offsets) && Number.isSafeInteger(offsets[1]) ? (offsets[1] as number) : Number.NaN,
    )
  const end = ends.reduce((longest, each) => Math.max(longest, each), 0)
  return end === bytes - 8 - length ? undefined : wrong
}

/** RIFF with the form WAVE (Multimedia Programming Interface and Data Specifications 1.0). */
async function wav(file: FileHandle): Promise<string | undefined> {
  const start = (await read(file, 0, 12)).toString('latin1')
  return /^RIFF....WAVE$/s.test(start) ? undefined : 'not a WAV file'
}

/** https://github.com/ggml-org/ggml/blob/master/docs/gguf.md: the magic, the version, how many tensors there are. */
async function gguf(file: FileHandle, bytes: number): Promise<string | undefined> {
  const start = await read(file, 0, 16)
  const isGguf = bytes > 24 && start.toString('latin1', 0, 4) === 'GGUF' && [2, 3].includes(start.readUInt32LE(4))
  return isGguf ? undefined : 'not a GGUF model'
}

/** Walks over the fields of the outermost message: they must end where the file ends, and the one named be among them. */
async function protobuf(file: FileHandle, bytes: number, needed: number, format: string): Promise<string | undefined> {
  let at = 0
  let held: Buffer = Buffer.alloc(0)
  let from = 0
  let found = false
  for (let fields = 0; at < bytes; fields++) {
    const tag = await varint()
    const number = tag === undefined ? 0 : Math.floor(tag / 8)
    if (tag === undefined || number === 0 || fields > mostFields) return `not ${format}`
    found ||= number === needed
    const length = await lengthOf(tag % 8)
    if (length === undefined || at + length > bytes) return `not ${format}`
    at += length
  }
  return found ? undefined : `not ${format}`

  async function lengthOf(wire: number): Promise<number | undefined> {
    if (wire === 0) return (await varint()) === undefined ? undefined : 0
    if (wire === 1) return 8
    if (wire === 2) return varint()
    return wire === 5 ? 4 : undefined
  }

  async function varint(): Promise<number | undefined> {
    let value = 0
    for (let shift = 0; shift < 70 && at < bytes; shift += 7) {
      if (at < from || at >= from + held.length) {
        held = await read(file, at, window)
        from = at
      }
      const byte = held[at++ - from]
      if (byte === undefined) return undefined
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    return undefined
  }
}

function objectIn(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

async function read(file: FileHandle, from: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, from + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return bytes.subarray(0, filled)
}
