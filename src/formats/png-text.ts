import { crc32, deflateSync, inflateSync } from 'node:zlib'
import { AppError } from '../errors.ts'

export interface PngText {
  readonly keyword: string
  readonly text: string
}

interface Chunk {
  readonly type: string
  readonly data: Buffer
}

const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')

/** Longer texts than this are not read: a card with a large lorebook has a megabyte or two. */
const longestText = 16 * 1024 ** 2

/**
 * The texts of a PNG (tEXt, zTXt and iTXt, unpacked), in the order of the file. Each chunk's checksum is checked.
 * Throws `invalid` for a file that is no PNG, damaged, or cut off.
 * PNG specification, third edition, sections 5.3 and 11.3.3. iTXt is read as Latin-1: cards are base64.
 */
export function readPngTexts(png: Uint8Array): readonly PngText[] {
  return readChunks(png).flatMap((chunk) => {
    const text = textOf(chunk)
    return text ? [text] : []
  })
}

/** The same picture with these tEXt chunks before its end, instead of those of the same keywords. Texts are latin-1. */
export function writePngTexts(png: Uint8Array, texts: readonly PngText[]): Buffer {
  const keywords = new Set(texts.map(({ keyword }) => keyword))
  const kept = readChunks(png).filter((chunk) => !keywords.has(textOf(chunk)?.keyword ?? ''))
  const added = texts.map(({ keyword, text }) => ({ type: 'tEXt', data: Buffer.from(`${keyword}\0${text}`, 'latin1') }))
  const end = kept.findIndex(({ type }) => type === 'IEND')
  return Buffer.concat([signature, ...[...kept.slice(0, end), ...added, ...kept.slice(end)].map(chunkBytes)])
}

/** A plain picture of one colour, for a persona that has none: `size` pixels in each direction, grey. */
export function plainPng(size: number): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size, 0)
  header.writeUInt32BE(size, 4)
  // Eight bits of grey; the other three fields have one value each.
  header[8] = 8
  const rows = Buffer.alloc(size * (size + 1), 0x80)
  // Each row begins with its filter: 0, none.
  for (let row = 0; row < size; row++) rows[row * (size + 1)] = 0
  const chunks = [
    { type: 'IHDR', data: header },
    { type: 'IDAT', data: deflateSync(rows) },
    { type: 'IEND', data: Buffer.alloc(0) },
  ]
  return Buffer.concat([signature, ...chunks.map(chunkBytes)])
}

function readChunks(bytes: Uint8Array): readonly Chunk[] {
  const png = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (!png.subarray(0, signature.length).equals(signature)) throw new AppError('invalid', 'The file is not a PNG')
  const chunks: Chunk[] = []
  for (let at = signature.length; chunks.at(-1)?.type !== 'IEND'; ) {
    if (at + 12 > png.length) throw new AppError('invalid', 'The PNG breaks off')
    const length = png.readUInt32BE(at)
    const type = png.toString('latin1', at + 4, at + 8)
    if (!/^[A-Za-z]{4}$/.test(type) || at + 12 + length > png.length)
      throw new AppError('invalid', `The PNG breaks off in chunk ${chunks.length + 1}`)
    const data = png.subarray(at + 8, at + 8 + length)
    if (crc32(png.subarray(at + 4, at + 8 + length)) !== png.readUInt32BE(at + 8 + length))
      throw new AppError('invalid', `The PNG is damaged in chunk ${chunks.length + 1} (${type})`)
    chunks.push({ type, data })
    at += 12 + length
  }
  if (chunks[0]?.type !== 'IHDR') throw new AppError('invalid', 'The PNG does not begin with its header')
  return chunks
}

function textOf({ type, data }: Chunk): PngText | undefined {
  if (type !== 'tEXt' && type !== 'zTXt' && type !== 'iTXt') return undefined
  const end = data.indexOf(0)
  if (end < 1 || end > 79) return undefined
  const keyword = data.toString('latin1', 0, end)
  if (type === 'tEXt')
    return data.length > longestText ? undefined : { keyword, text: data.toString('latin1', end + 1) }
  const packed = type === 'zTXt' ? data.subarray(end + 2) : internationalText(data.subarray(end + 1))
  if (packed.length > longestText) return undefined
  if (type === 'iTXt' && data[end + 1] === 0) return { keyword, text: packed.toString('latin1') }
  try {
    return { keyword, text: inflateSync(packed, { maxOutputLength: longestText }).toString('latin1') }
  } catch (reason) {
    throw new AppError('invalid', `The text ${keyword} of the PNG does not unpack`, { cause: reason })
  }
}

/** The text of an iTXt after its keyword: behind two flags, a language and a translated keyword. */
function internationalText(data: Buffer): Buffer {
  const language = data.indexOf(0, 2)
  const translated = language < 0 ? -1 : data.indexOf(0, language + 1)
  return translated < 0 ? Buffer.alloc(0) : data.subarray(translated + 1)
}

function chunkBytes({ type, data }: Chunk): Buffer {
  const chunk = Buffer.alloc(12 + data.length)
  chunk.writeUInt32BE(data.length, 0)
  chunk.write(type, 4, 'latin1')
  data.copy(chunk, 8)
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length)
  return chunk
}
