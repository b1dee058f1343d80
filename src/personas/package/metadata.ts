import { type Fields, isFields } from '../fields.ts'
import { type ContentHash, digestLength, digestOf } from './digest.ts'
import type { PackageHead } from './format.ts'

/** `export_metadata` with the content hash. */
export interface ClosingMetadata extends Fields {
  readonly content_hash: string
}

/** `export_metadata` after the last record: with hash, counts, and the digests that name a broken record. */
export function closingMetadata(
  head: PackageHead,
  hash: ContentHash,
  memories: readonly string[],
  records: readonly string[],
): ClosingMetadata {
  return {
    ...head.metadata,
    content_hash: hash.digest(head),
    counts: { memories: memories.length, adaptation_log: records.length },
    record_digests: {
      persona: digestOf(head.persona),
      state: digestOf(head.state),
      memories: memories.join(''),
      adaptation_log: records.join(''),
    },
  }
}

/** The checksums that a rewritten package remembers, the newest ones. */
const rememberedChecksums = 50

/**
 * `export_metadata` of a package that is written again with fewer memories: closing and checksum are made anew, and
 * `rewritten_from` lists the checksums that it had before, the newest last.
 */
export function metadataRewritten(metadata: Fields): Fields {
  const { checksum, content_hash: _hash, counts: _counts, record_digests: _digests, ...others } = metadata
  return { ...others, rewritten_from: [...checksumsBefore(metadata), checksum].slice(-rememberedChecksums) }
}

/** The checksums that a rewritten package had before; none for any other package. */
export function checksumsBefore({ rewritten_from: before }: Fields): readonly unknown[] {
  return Array.isArray(before) ? before : []
}

/** The digests of a package's actual records. */
export interface FoundRecords {
  readonly memories: readonly string[]
  readonly records: readonly string[]
  /** False when reading broke off: then an absent record may only not have been reached. */
  readonly isWhole: boolean
}

/** The most broken records that are named. */
const mostNamed = 20

/**
 * A sentence for each record that differs from `export_metadata.record_digests`: changed, moved, added or missing. None
 * when the package lists no digests, as those of other programs.
 */
export function namedDifferences(head: PackageHead, found: FoundRecords): readonly string[] {
  const digests = head.metadata['record_digests']
  if (!isFields(digests)) return []
  const problems: string[] = []
  for (const name of ['persona', 'state'] as const)
    if (typeof digests[name] === 'string' && digests[name] !== digestOf(head[name]))
      problems.push(`${name} was changed`)
  problems.push(
    ...differences('memories', digests['memories'], found.memories, found.isWhole),
    ...differences('adaptation_log', digests['adaptation_log'], found.records, found.isWhole),
  )
  return problems.length > mostNamed
    ? [...problems.slice(0, mostNamed), `and ${problems.length - mostNamed} more`]
    : problems
}

function differences(name: string, listed: unknown, actual: readonly string[], isWhole: boolean): readonly string[] {
  if (typeof listed !== 'string') return []
  const expected = listed.match(new RegExp(`.{1,${digestLength}}`, 'gs')) ?? []
  const known = new Map(expected.map((digest, index) => [digest, index]))
  const present = new Set(actual)
  const problems = actual.flatMap((digest, index) => {
    const wanted = expected[index]
    if (wanted === digest) return []
    const place = known.get(digest)
    if (place !== undefined) return [`${name}[${index}] stood at ${name}[${place}]`]
    return [`${name}[${index}] was ${wanted !== undefined && !present.has(wanted) ? 'changed' : 'added'}`]
  })
  const missing = expected.flatMap((digest, index) => {
    const replacement = actual[index]
    const wasChanged = replacement !== undefined && !known.has(replacement)
    return isWhole && !present.has(digest) && !wasChanged ? [`${name}[${index}] is missing`] : []
  })
  return [...missing, ...problems]
}
