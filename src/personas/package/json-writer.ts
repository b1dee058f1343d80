import { createHash } from 'node:crypto'
import { canonicalize, createFile, type FileWriter } from '../../formats/formats.ts'
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
        spool.write((memories.length > 0 ? ',' : '') + memoryText(memory))
        memories.push(hash.memory(memory))
      }
    const records: string[] = []
    const log: string[] = []
    for await (const batch of content.log)
      for (const record of batch) {
        records.push(hash.record(record))
        log.push(canonicalize(record))
      }
    const metadata = closingMetadata(content, hash, memories, records)
    const checksum = assemble(out, { ...content, metadata }, `[${log.join(',')}]`, spool)
    out.close()
    return { checksum, content_hash: metadata.content_hash, memories: memories.length, records: records.length }
  } catch (reason) {
    out.discard()
    throw reason
  } finally {
    spool.discard()
  }
}

/** A placeholder for the checksum, which is patched in at the end. */
const placeholder = `sha256:${'0'.repeat(64)}`

/** Writes the parts in the canonical order of their names; returns the checksum, which is over all but itself. */
function assemble(
  out: FileWriter,
  content: Omit<PackageContent, 'memories' | 'log'>,
  log: string,
  memories: FileWriter,
): string {
  const hash = createHash('sha256')
  const put = (piece: string | Uint8Array) => {
    hash.update(piece)
    out.write(piece)
  }
  let checksumAt = 0
  const texts: Readonly<Record<string, () => void>> = {
    adaptation_log: () => put(log),
    export_metadata: () => {
      const { before, after } = aroundChecksum(content.metadata)
      hash.update(canonicalize(content.metadata))
      out.write(`${before}"checksum":"`)
      checksumAt = out.size
      out.write(`${placeholder}"${after}`)
    },
    memories: () => {
      put('[')
      for (const chunk of memories.readBack()) put(chunk)
      put(']')
    },
    persona: () => put(canonicalize(content.persona)),
    state: () => put(canonicalize(content.state)),
  }
  const names = [...Object.keys(texts), ...Object.keys(content.extra)].sort()
  for (const [index, name] of names.entries()) {
    put(`${index === 0 ? '{' : ','}${canonicalize(name)}:`)
    // An unknown part may be named like a property of Object.prototype.
    const text = Object.hasOwn(texts, name) ? texts[name] : undefined
    if (text) text()
    else put(canonicalize(content.extra[name]))
  }
  put('}')
  const checksum = `sha256:${hash.digest('hex')}`
  out.patch(checksumAt, checksum)
  return checksum
}

/** The canonical texts of the fields that sort before and after `checksum`, to be joined around it. */
function aroundChecksum(metadata: Fields): {
  readonly before: string
  readonly after: string
} {
  const part = (isMember: (name: string) => boolean) =>
    canonicalize(Object.fromEntries(Object.entries(metadata).filter(([name]) => isMember(name)))).slice(1, -1)
  const [before, after] = [part((name) => name < 'checksum'), part((name) => name > 'checksum')]
  return { before: `{${before}${before ? ',' : ''}`, after: `${after ? ',' : ''}${after}}` }
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
