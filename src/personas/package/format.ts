import { damaged, type FileError, unsupported, zipLimits } from '../../formats/formats.ts'
import type { Fields } from '../fields.ts'

/**
 * The persona package ("DNA"): a persona, its state, its memories and its log in the specification's fields.
 * Its form `document` is one JSON object; the form `container`, for large ones, is a zip of the same parts with the vectors
 * as raw little-endian floats. Either can be inside an age file.
 */

/** The version that is written. The major number grows when an older reader would misunderstand. */
export const packageVersion = '1.0'

/** The oldest reader version that understands `packageVersion`. */
export const minReaderVersion = '1.0'

/** Features that a package may require; one that requires another is refused. */
export const knownFeatures: readonly string[] = ['adaptation-log/1', 'embeddings/1']

/** The forms of a package, distinguished by their first bytes. */
export type PackageForm = 'document' | 'container'

/** A memory of a package, its vector apart. Its fields include unknown ones. */
export interface PackageMemory {
  readonly fields: Fields
  readonly vector?: Float32Array
}

export interface PackageHead {
  readonly persona: Fields
  readonly state: Fields
  /** `export_metadata`. */
  readonly metadata: Fields
  /** Top-level fields that are unknown here. */
  readonly extra: Fields
}

/** The contents of a package. `memories` and `log` come in batches, and are iterated once. */
export interface PackageContent extends PackageHead {
  readonly memories: AsyncIterable<readonly PackageMemory[]>
  readonly log: AsyncIterable<readonly Fields[]>
}

/** The sums and counts of a written package. */
export interface WrittenPackage {
  readonly checksum: string
  readonly content_hash: string
  readonly memories: number
  readonly records: number
}

export const packageLimits = {
  /** Bytes of the file, and of all its unpacked members. */
  bytes: zipLimits.bytes,
  memories: 500_000,
  records: 100_000,
  /** Bytes of the persona, the state, or the metadata each. */
  part: 32 * 1024 ** 2,
  /** Bytes of all unknown parts together. */
  unknown: 2 * 1024 ** 2,
  /** Bytes of one memory with its embedding as text, or of one record. */
  item: 4 * 1024 ** 2,
  /** Characters of a memory's labels, and of its unknown fields, as JSON. */
  labels: 64 * 1024,
  dimension: 16_384,
  /** Characters of a memory, the limit of the store. */
  content: 20_000,
} as const

/**
 * The problem of a package that cannot be read here, by its version and features. A newer minor version can be read: its
 * unknown fields are passthrough. A newer major one can when its `min_reader_version` allows it.
 */
export function versionProblem(metadata: Fields): FileError | undefined {
  const version = readVersion(metadata['version'])
  if (!version) return damaged(`export_metadata.version is an invalid version: ${show(metadata['version'])}`)
  const features = metadata['required_features'] ?? []
  if (!Array.isArray(features) || !features.every((feature) => typeof feature === 'string'))
    return damaged('export_metadata.required_features is not a list of names')
  const missing = features.filter((feature) => !knownFeatures.includes(feature))
  if (missing.length > 0) return unsupported(`The package needs ${missing.map(show).join(', ')}: update aichat`)
  const asked = metadata['min_reader_version']
  const least = asked === undefined ? ([version[0], 0] as const) : readVersion(asked)
  if (!least) return damaged(`export_metadata.min_reader_version is an invalid version: ${show(asked)}`)
  const [major, minor] = readVersion(packageVersion)!
  if (least[0] > major || (least[0] === major && least[1] > minor))
    return unsupported(
      `The package has version ${version.join('.')}; this aichat reads up to ${packageVersion}: update it`,
    )
  return undefined
}

/** `1.0`, or `1.0.0` as the earliest packages have it. */
function readVersion(value: unknown): readonly [major: number, minor: number] | undefined {
  const match = typeof value === 'string' && /^(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})(?:\.(?:0|[1-9]\d{0,5}))?$/.exec(value)
  return match ? [Number(match[1]), Number(match[2])] : undefined
}

function show(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 60)
}

/** Members of a zipped package, in the order in which they are written. */
export const memberNames = {
  persona: 'persona.json',
  state: 'state.json',
  log: 'adaptation_log.ndjson',
  memories: 'memories.ndjson',
  vectors: 'vectors.f32',
  manifest: 'manifest.json',
} as const
