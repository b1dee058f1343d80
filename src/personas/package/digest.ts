import { createHash, type Hash } from 'node:crypto'
import { canonicalize } from '../../formats/formats.ts'
import { type Fields, isFields, withoutFields } from '../fields.ts'
import type { PackageHead, PackageMemory } from './format.ts'

/** Fields that differ after a round trip: they tell copies of a persona apart. */
const bookkeeping = new Set(['id', 'user_id', 'persona_id', 'created_at', 'updated_at', 'last_mutation'])

/** SHA-256 of no bytes, for a memory without a vector. */
const noVector = createHash('sha256').digest()

/** Hex digits of a record's digest in a package: enough to name a changed record, not to prove it. */
export const digestLength = 16

/**
 * The content hash of a package, updated record by record: SHA-256 over the canonical contents without ids, owner,
 * times of writing and lineage. The same persona has the same hash in either form, before and after a round trip.
 * Memories count as a set, since a store may list them in any order; the log counts in its order.
 */
export class ContentHash {
  readonly #memories: Buffer[] = []
  readonly #log: Hash = createHash('sha256')
  readonly #places = new Map<unknown, number>()

  /** Adds a memory and returns its digest, ids included: `digestLength` hex digits. */
  memory(memory: PackageMemory): string {
    return sha256(canonicalize(memory.fields), this.add(memory)).toString('hex').slice(0, digestLength)
  }

  /** Adds a memory and returns the hash of its vector. */
  add({ fields, vector }: PackageMemory): Buffer {
    const sum = vector ? sha256(vectorBytes(oneZero(vector))) : noVector
    this.#memories.push(sha256(canonicalize(withoutFields(fields, bookkeeping)), sum))
    return sum
  }

  /** Adds the next record of the log and returns its digest, ids included. */
  record(record: Fields): string {
    this.#places.set(record['id'], this.#places.size + 1)
    const content = { ...withoutFields(record, bookkeeping), hash: undefined, prev_hash: undefined }
    this.#log.update(sha256(canonicalize({ ...content, inputs: this.#placed(record['inputs']) })))
    return digestOf(record)
  }

  /** The hash of all added records and the small parts. */
  digest({ persona, state, extra }: PackageHead): string {
    const content = {
      persona: withoutFields(persona, bookkeeping),
      state: withoutEvidence(withoutFields(state, bookkeeping)),
      memories: sha256(Buffer.concat(this.#memories.toSorted(Buffer.compare))).toString('hex'),
      adaptation_log: this.#log.copy().digest('hex'),
      extra,
    }
    return checksumOf(canonicalize(content))
  }

  /** Replaces ids of other records by their places, which no import changes. */
  #placed(inputs: unknown): unknown {
    if (!isFields(inputs)) return inputs
    const placed: Record<string, unknown> = { ...inputs }
    for (const name of ['target', 'accepts'])
      if (typeof placed[name] === 'string') placed[name] = this.#places.get(placed[name]) ?? 0
    return placed
  }
}

/** The digest of a part or record as a package lists it. */
export function digestOf(part: Fields): string {
  return sha256(canonicalize(part)).toString('hex').slice(0, digestLength)
}

/** A vector as little-endian 32-bit floats, its form in a zip and in hashes. */
export function vectorBytes(vector: Float32Array): Buffer {
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)
  return littleEndian ? bytes : Buffer.from(bytes).swap32()
}

/** Turns -0 into 0: JSON packages have one zero. */
function oneZero(vector: Float32Array): Float32Array {
  const bits = new Int32Array(vector.buffer, vector.byteOffset, vector.length)
  return bits.includes(-0x80000000) ? vector.map((value) => value + 0) : vector
}

/** Whether all numbers of a vector are finite: NaN and infinity times zero are NaN. */
export function isFiniteVector(vector: Float32Array): boolean {
  let sum = 0
  for (let index = 0; index < vector.length; index++) sum += vector[index]! * 0
  return sum === 0
}

/** The vector of such bytes; a copy, so that the bytes may be reused. */
export function vectorOf(bytes: Uint8Array): Float32Array {
  const copy = Buffer.from(new Uint8Array(bytes).buffer)
  if (!littleEndian) copy.swap32()
  return new Float32Array(copy.buffer, copy.byteOffset, copy.length / 4)
}

const littleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

/** A checksum as packages carry it: the name of the algorithm and SHA-256 in hex. */
export function checksumOf(text: string): string {
  return `sha256:${sha256(text).toString('hex')}`
}

function sha256(...pieces: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256')
  for (const piece of pieces) hash.update(piece)
  return hash.digest()
}

/** Drops evidence, which lists records by id; the records are in the log. */
function withoutEvidence(state: Fields): Fields {
  const preferences = state['learned_preferences']
  if (!isFields(preferences)) return state
  const rest = Object.entries(preferences).map(([name, value]) => [
    name,
    isFields(value) ? { ...value, evidence: undefined } : value,
  ])
  return { ...state, learned_preferences: Object.fromEntries(rest) }
}
