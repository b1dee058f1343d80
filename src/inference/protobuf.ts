/** Protocol buffers as ONNX and SentencePiece use them: https://protobuf.dev/programming-guides/encoding */
import { AppError } from '../errors.ts'

/** One field of a message to write: its number, and its value in the form that its type takes on the wire. */
export type Field =
  | { readonly field: number; readonly varint: number | bigint }
  | { readonly field: number; readonly float: number }
  | { readonly field: number; readonly text: string }
  | { readonly field: number; readonly bytes: Uint8Array }
  | { readonly field: number; readonly message: readonly Field[] }
  | { readonly field: number; readonly packed: readonly (number | bigint)[] }

/** A field; fixed-width values stay bytes, since only the caller knows their type. */
export interface ReadField {
  readonly field: number
  readonly value: bigint | Uint8Array
}

const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const

/** The bytes of a message; fields keep their order. */
export function writeMessage(fields: readonly Field[]): Uint8Array {
  return Buffer.concat(fields.flatMap(encodeField))
}

/** The fields of a message in their order; throws an AppError `invalid` that names `source` when the bytes are no message. */
export function readMessage(bytes: Uint8Array, source: string): ReadField[] {
  const fields: ReadField[] = []
  let at = 0
  while (at < bytes.length) {
    const key = varint()
    const field = Number(key >> 3n)
    const type = Number(key & 7n)
    if (type === wireTypes.varint) fields.push({ field, value: varint() })
    else if (type === wireTypes.fixed64) fields.push({ field, value: take(8) })
    else if (type === wireTypes.fixed32) fields.push({ field, value: take(4) })
    else if (type === wireTypes.bytes) fields.push({ field, value: take(Number(varint())) })
    else throw broken()
  }
  return fields

  function varint(): bigint {
    let result = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++]
      if (byte === undefined) throw broken()
      result |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return result
    }
    throw broken()
  }

  function take(length: number): Uint8Array {
    if (length > bytes.length - at) throw broken()
    at += length
    return bytes.subarray(at - length, at)
  }

  function broken(): AppError {
    return new AppError('invalid', `${source} is damaged: it is truncated or not a protocol buffer message`)
  }
}

function encodeField(entry: Field): Uint8Array[] {
  if ('varint' in entry) return [encodeKey(entry.field, wireTypes.varint), encodeVarint(entry.varint)]
  if ('float' in entry) {
    const value = Buffer.alloc(4)
    value.writeFloatLE(entry.float)
    return [encodeKey(entry.field, wireTypes.fixed32), value]
  }
  const content = contentOf(entry)
  return [encodeKey(entry.field, wireTypes.bytes), encodeVarint(content.length), content]
}

function contentOf(entry: Exclude<Field, { varint: unknown } | { float: unknown }>): Uint8Array {
  if ('text' in entry) return Buffer.from(entry.text)
  if ('bytes' in entry) return entry.bytes
  if ('message' in entry) return writeMessage(entry.message)
  return Buffer.concat(entry.packed.map(encodeVarint))
}

function encodeKey(field: number, type: number): Uint8Array {
  return encodeVarint(field * 8 + type)
}

/** Negative numbers take ten bytes, as 64-bit two's complement. */
function encodeVarint(value: number | bigint): Uint8Array {
  let rest = BigInt.asUintN(64, BigInt(value))
  const bytes: number[] = []
  do {
    const low = Number(rest & 0x7fn)
    rest >>= 7n
    bytes.push(rest > 0n ? low | 0x80 : low)
  } while (rest > 0n)
  return Uint8Array.from(bytes)
}
