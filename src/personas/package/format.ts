import { damaged, type FileError, unsupported } from '../../formats/file-error.ts'
import { zipLimits } from '../../formats/zip.ts'
import type { Fields } from '../fields.ts'

/**
 * The persona package ("DNA"): a persona, its state, its memories and its log in the specification's fields.
 * As a *document* it is one JSON object; as a *container*, for large ones, a zip of the same parts with the vectors as
 * raw little-endian floats. Either can be inside an age file.
 */

/** What this program writes. The part before the point grows when an older reader would misunderstand. */
export const packageVersion = '1.0'

/** The oldest reader that understands what this program writes. */
export const minReaderVersion = '1.0'

/** Features that a package may ask of its reader; asking for another one makes it unreadable here. */
export const knownFeatures: readonly string[] = ['adaptation-log/1', 'embeddings/1']

/** The forms of a package, told apart by their first bytes. */
export type PackageForm = 'document' | 'container'

/** A memory as it stands in a package, its vector apart. Fields that are unknown here are among the others. */
export interface PackageMemory {
  readonly fields: Fields
  readonly vector?: Float32Array
}

/** The parts of a package that are small. */
export interface PackageHead {
  readonly persona: Fields
  readonly state: Fields
  /** `export_metadata`. */
  readonly metadata: Fields
  /** Top-level fields that are unknown here. */
  readonly extra: Fields
}

/** What goes into a package. `memories` and `log` are walked once. */
export interface PackageContent extends PackageHead {
  readonly memories: Iterable<PackageMemory>
  readonly log: Iterable<Fields>
}

/** What a package turned out to be when it was written. */
export interface WrittenPackage {
  readonly checksum: string
  readonly content_hash: string
  readonly memories: number
  readonly records: number
}

/** How much of a stranger's package is read before it is refused. */
export const packageLimits = {
  /** Bytes of the file, and of all that is unpacked from it. */
  bytes: zipLimits.bytes,
  memories: 500_000,
  records: 100_000,
  /** Bytes of the persona, the state, or the metadata each. */
  part: 32 * 1024 ** 2,
  /** Bytes of what is unknown beside them, all of it together. */
  unknown: 2 * 1024 ** 2,
  /** Bytes of one memory with its embedding as text, or of one record. */
  item: 4 * 1024 ** 2,
  /** Characters of a memory's labels, and of its unknown fields, as JSON. */
  labels: 64 * 1024,
  dimension: 16_384,
  /** Characters of a memory, as the store takes them. */
  content: 20_000,
} as const

/**
 * Whether a package can be read here, by what it says of itself; the problem when it cannot. A newer minor version can:
 * what is unknown in it is carried along. A newer major one only when it says that this reader is enough.
 */
export function versionProblem(metadata: Fields): FileError | undefined {
  const version = readVersion(metadata['version'])
  if (!version) return damaged(`export_metadata.version is not a version: ${show(metadata['version'])}`)
  const features = metadata['required_features'] ?? []
  if (!Array.isArray(features) || !features.every((feature) => typeof feature === 'string'))
    return damaged('export_metadata.required_features is not a list of names')
  const missing = features.filter((feature) => !knownFeatures.includes(feature))
  if (missing.length > 0) return unsupported(`The package needs ${missing.map(show).join(', ')}: update aichat`)
  const asked = metadata['min_reader_version']
  const least = asked === undefined ? ([version[0], 0] as const) : readVersion(asked)
  if (!least) return damaged(`export_metadata.min_reader_version is not a version: ${show(asked)}`)
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

/** Members of a container, in the order in which they are written. */
export const memberNames = {
  persona: 'persona.json',
  state: 'state.json',
  log: 'adaptation_log.ndjson',
  memories: 'memories.ndjson',
  vectors: 'vectors.f32',
  manifest: 'manifest.json',
} as const
