import { createHash, type Hash } from 'node:crypto'
import {
  canonicalize,
  damaged,
  openZip,
  parseStrictJsonBytes,
  unsupported,
  type ZipFile,
} from '../../formats/formats.ts'
import { type Fields, isFields } from '../fields.ts'
import { checksumOf, isFiniteVector, vectorOf } from './digest.ts'
import { foreignZip } from './foreign-file.ts'
import { memberNames, type PackageHead, type PackageMemory, packageLimits } from './format.ts'
import type { PackageSource, Visitor } from './source.ts'

/** A member as the manifest lists it. */
export interface MemberSum {
  readonly name: string
  readonly sha256: string
  readonly bytes: number
}

type Manifest = ReturnType<typeof readManifest>

/** The `format` of `manifest.json`: tells a package from other zips. */
export const zipPackageFormat = 'aichat-persona-dna'

/** Opens a zipped package. Throws a FileError for any other file. */
export function openZipPackage(path: string): PackageSource {
  const foreign = foreignZip(path)
  if (foreign) throw foreign
  const zip = openZip(path)
  try {
    const manifest = readManifest(zip)
    const head: PackageHead = {
      persona: readPart(zip, memberNames.persona),
      state: readPart(zip, memberNames.state),
      metadata: manifest.metadata,
      extra: manifest.extra,
    }
    return { form: 'container', head, ...walks(zip, manifest), close: () => zip.close() }
  } catch (reason) {
    zip.close()
    throw reason
  }
}

/**
 * The fields of the memories of a zipped package, without their vectors and unverified: a fraction of the work of reading it
 * all. With `texts`, only those in whose line one of them stands. Throws a FileError for a damaged file.
 */
export function* memoryFields(path: string, texts?: readonly string[]): Generator<Fields> {
  const zip = openZip(path)
  try {
    const needles = texts?.map((text) => Buffer.from(text))
    if (!zip.members.has(memberNames.memories)) throw damaged(`The package has no ${memberNames.memories}`)
    for (const line of lines(zip.read(memberNames.memories), memberNames.memories))
      if (!needles || needles.some((needle) => Buffer.from(line.buffer, line.byteOffset, line.length).includes(needle)))
        yield fieldsOf(line)
  } finally {
    zip.close()
  }
}

function readManifest(zip: ZipFile) {
  if (!zip.members.has(memberNames.manifest))
    throw unsupported('Invalid persona package: it is a ZIP archive without manifest.json')
  const manifest = readPart(zip, memberNames.manifest)
  const { format, members, export_metadata, extra, ...others } = manifest
  if (format !== zipPackageFormat) throw unsupported('The zip is not a persona package')
  if (!isFields(export_metadata)) throw damaged('manifest.json has no export_metadata')
  const sums = new Map((Array.isArray(members) ? members : []).filter(isMemberSum).map((sum) => [sum.name, sum]))
  for (const name of Object.values(memberNames)) {
    if (name === memberNames.manifest) continue
    if (!sums.has(name)) throw damaged(`manifest.json does not list ${name}`)
    if (!zip.members.has(name)) throw damaged(`The package has no ${name}`)
  }
  for (const name of zip.members.keys())
    if (!(Object.values(memberNames) as string[]).includes(name))
      throw unsupported(`The package has a member that is unknown here: ${name}`)
  const { checksum: _checksum, ...rest } = export_metadata
  /** The checksum over the canonical manifest without its own, and so over all members. */
  const actual = checksumOf(canonicalize({ ...manifest, export_metadata: rest }))
  return { metadata: export_metadata, members: sums, extra: { ...others, ...(isFields(extra) && extra) }, actual }
}

function isMemberSum(value: unknown): value is MemberSum {
  return isFields(value) && typeof value['name'] === 'string' && typeof value['sha256'] === 'string'
}

/** Reads a small member as an object. */
function readPart(zip: ZipFile, name: string): Fields {
  const size = zip.members.get(name)?.size ?? 0
  if (size > packageLimits.part) throw damaged(`${name} is longer than ${packageLimits.part} bytes`)
  if (!zip.members.has(name)) throw damaged(`The package has no ${name}`)
  const value = parseStrictJsonBytes(Buffer.concat([...zip.read(name)]))
  if (!isFields(value)) throw damaged(`${name} is not an object`)
  return value
}

function walks(zip: ZipFile, manifest: Manifest): Pick<PackageSource, 'walk' | 'memories' | 'log'> {
  return {
    walk(visitor) {
      const broken: string[] = []
      const check = (name: string, hash: Hash) => {
        if (hash.digest('hex') !== manifest.members.get(name)!.sha256.toLowerCase()) broken.push(name)
      }
      for (const name of [memberNames.persona, memberNames.state]) {
        const hash = createHash('sha256')
        for (const chunk of zip.read(name)) hash.update(chunk)
        check(name, hash)
      }
      const log = { list: 'adaptation_log', most: packageLimits.records } as const
      check(
        memberNames.log,
        walkLines(zip, memberNames.log, log, visitor, (line, index) => visitor.record(fieldsOf(line), index)),
      )
      const memories = { list: 'memories', most: packageLimits.memories } as const
      const sum = createHash('sha256')
      const vectors = vectorReader(zip, sum)
      check(
        memberNames.memories,
        walkLines(zip, memberNames.memories, memories, visitor, (line, index) =>
          visitor.memory(readMemory(line, vectors), index),
        ),
      )
      try {
        vectors.end()
        check(memberNames.vectors, sum)
      } catch (reason) {
        visitor.broken(memberNames.vectors, reason)
      }
      const expected = manifest.metadata['checksum']
      return { expected: typeof expected === 'string' ? expected : undefined, actual: manifest.actual, broken }
    },
    *memories() {
      const vectors = vectorReader(zip)
      for (const line of lines(zip.read(memberNames.memories), memberNames.memories)) {
        const { fields, length } = readLine(line)
        yield length > 0 ? { fields, vector: vectors.next(length) } : { fields }
      }
    },
    *log() {
      for (const line of lines(zip.read(memberNames.log), memberNames.log)) yield fieldsOf(line)
    },
  }
}

/** Visits each line of a member; a line that cannot be parsed is passed to the visitor, and the walk goes on. */
function walkLines(
  zip: ZipFile,
  name: string,
  { list, most }: { readonly list: 'memories' | 'adaptation_log'; readonly most: number },
  visitor: Visitor,
  visit: (line: Uint8Array, index: number) => void,
): Hash {
  const hash = createHash('sha256')
  let index = 0
  try {
    for (const line of lines(zip.read(name), name, hash)) {
      if (index >= most) throw damaged(`it has more than ${most} records`)
      try {
        visit(line, index)
      } catch (reason) {
        visitor.unreadable(list, index, reason)
      }
      index++
    }
  } catch (reason) {
    visitor.broken(name, reason)
  }
  return hash
}

function readMemory(line: Uint8Array, vectors: VectorReader): PackageMemory {
  let read: ReturnType<typeof readLine>
  try {
    read = readLine(line)
  } catch (reason) {
    // One broken line must not shift the vectors of all later ones.
    vectors.skip()
    throw reason
  }
  const { fields, length } = read
  if (length === 0) return { fields }
  const vector = vectors.next(length)
  if (!isFiniteVector(vector)) throw damaged('its embedding holds a number that is not finite')
  return { fields, vector }
}

/** A line of `memories.ndjson`: a memory with the length of its embedding in place of the embedding. */
function readLine(line: Uint8Array): { readonly fields: Fields; readonly length: number } {
  const { embedding_length: length = 0, ...fields } = fieldsOf(line)
  if (typeof length !== 'number' || !Number.isInteger(length) || length < 0 || length > packageLimits.dimension)
    throw damaged(`its embedding_length is not a number from 0 to ${packageLimits.dimension}`)
  return { fields, length }
}

function fieldsOf(line: Uint8Array): Fields {
  const value = parseStrictJsonBytes(line)
  if (!isFields(value)) throw damaged('it is not an object')
  return value
}

/** The lines of a member. Throws when the last one lacks its line feed: the member was cut off. */
function* lines(chunks: Iterable<Uint8Array>, name: string, hash?: Hash): Generator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array()
  for (const chunk of chunks) {
    hash?.update(chunk)
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    let start = 0
    for (let end = bytes.indexOf(0x0a, start); end >= 0; end = bytes.indexOf(0x0a, start)) {
      yield bytes.subarray(start, end)
      start = end + 1
    }
    rest = bytes.subarray(start)
    if (rest.length > packageLimits.item) throw damaged(`${name} has a line longer than ${packageLimits.item} bytes`)
  }
  if (rest.length > 0) throw damaged(`${name} breaks off in the middle of a line`)
}

type VectorReader = ReturnType<typeof vectorReader>

/** @param hash updated with all bytes that are read */
function vectorReader(zip: ZipFile, hash?: Hash) {
  const chunks = zip.read(memberNames.vectors)
  let rest: Uint8Array = new Uint8Array()
  let last = 0
  const more = (): boolean => {
    const { value, done } = chunks.next()
    if (done) return false
    hash?.update(value)
    rest = rest.length > 0 ? Buffer.concat([rest, value]) : value
    return true
  }
  const take = (length: number): Uint8Array => {
    while (rest.length < length * 4) if (!more()) throw damaged('its embedding is missing')
    const bytes = rest.subarray(0, length * 4)
    rest = rest.subarray(length * 4)
    last = length
    return bytes
  }
  return {
    /** The next vector, of so many numbers. */
    next: (length: number) => vectorOf(take(length)),
    /** Passes over one vector as long as the last one. */
    skip: () => void take(last),
    /** Checks that no bytes are left. */
    end() {
      if (rest.length > 0 || more()) throw damaged(`${memberNames.vectors} holds more vectors than the memories have`)
    },
  }
}
