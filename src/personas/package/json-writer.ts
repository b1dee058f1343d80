import { createHash } from 'node:crypto'
import { canonicalize, createFile } from '../../formats/formats.ts'
import type { Fields } from '../fields.ts'
import { ContentHash } from './digest.ts'
import type { PackageContent, PackageMemory, WrittenPackage } from './format.ts'
import { closingMetadata } from './metadata.ts'

/**
 * Writes a package as canonical JSON to a new file, in flat memory: the memories go through a file beside it, since the
 * content hash stands before them. Floats have at most nine digits, which is enough for every bit.
 */
export async function writeJsonPackage(path: string, content: PackageContent): Promise<WrittenPackage> {
  const hash = new ContentHash()
  const spool = createFile(`${path}.memories`)
  const out = createFile(path)
  try {
    const memories: string[] = []
    for await (const batch of content.memories)
      for (const memory of batch) {
        spool.write((memories.length > 0 ? ',' : '[') + memoryText(memory))
        memories.push(hash.memory(memory))
      }
    spool.write(memories.length > 0 ? ']' : '[]')
    const records: string[] = []
    const log: string[] = []
    for await (const batch of content.log)
      for (const record of batch) {
        records.push(hash.record(record))
        log.push(canonicalize(record))
      }
    const metadata = closingMetadata(content, hash, memories, records)
    const pieces = (all: Fields) => piecesOf({ ...content, metadata: all }, `[${log.join(',')}]`, spool.readBack)
    const sum = createHash('sha256')
    for (const piece of pieces(metadata)) sum.update(piece)
    const checksum = `sha256:${sum.digest('hex')}`
    for (const piece of pieces({ ...metadata, checksum })) out.write(piece)
    out.close()
    return { checksum, content_hash: metadata.content_hash, memories: memories.length, records: records.length }
  } catch (reason) {
    out.discard()
    throw reason
  } finally {
    spool.discard()
  }
}

/** The canonical text of a package in pieces: its parts in the order of their names. */
function* piecesOf(
  content: Omit<PackageContent, 'memories' | 'log'>,
  log: string,
  memories: () => Iterable<Uint8Array>,
): Generator<string | Uint8Array> {
  const texts = new Map<string, () => Iterable<string | Uint8Array>>([
    ...Object.entries(content.extra).map(([name, part]) => [name, () => [canonicalize(part)]] as const),
    ['adaptation_log', () => [log]],
    ['export_metadata', () => [canonicalize(content.metadata)]],
    ['memories', memories],
    ['persona', () => [canonicalize(content.persona)]],
    ['state', () => [canonicalize(content.state)]],
  ])
  let before = '{'
  for (const name of [...texts.keys()].sort()) {
    yield `${before}${canonicalize(name)}:`
    yield* texts.get(name)!()
    before = ','
  }
  yield '}'
}

/** The canonical text of a memory with its embedding as a list of numbers, which is empty where there is none. */
function memoryText({ fields, vector }: PackageMemory): string {
  return canonicalize({ ...fields, embedding: vector ? Array.from(vector, shortDouble) : [] })
}

/**
 * The double with the fewest digits, from six to nine of them, that is this 32-bit float again when it is rounded to one:
 * nine significant digits tell any two of them apart, and six survive the way there and back, so that 0.1 stays 0.1
 * (IEEE 754; FLT_DECIMAL_DIG and FLT_DIG in C). Canonical JSON has one zero only.
 */
export function shortDouble(value: number): number {
  const size = value < 0 ? -value : value
  if (size >= 1e-4 && size < 1) {
    let scale = 1e6
    for (let bound = 0.1; size < bound; bound /= 10) scale *= 10
    for (let digits = 6; digits <= 9; digits++, scale *= 10) {
      const short = Math.round(value * scale) / scale
      if (Math.fround(short) === value) return short
    }
  }
  if (value === 0) return 0
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return short
  }
  return Number(value.toPrecision(9))
}
