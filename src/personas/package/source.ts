import type { Fields } from '../fields.ts'
import type { PackageForm, PackageHead, PackageMemory } from './format.ts'

/** Called with each record of a package in the order of the file; `index` counts from 0. */
export interface Visitor {
  memory(memory: PackageMemory, index: number): void
  record(record: Fields, index: number): void
  /** A record that cannot be parsed; the walk goes on with the next one. */
  unreadable(list: 'memories' | 'adaptation_log', index: number, reason: unknown): void
  /** A list or member that breaks off or ends wrongly. */
  broken(name: string, reason: unknown): void
}

/** The checksum that a package carries, and the one computed over its contents. */
export interface Integrity {
  readonly expected: string | undefined
  readonly actual: string
  /** The zip members with a wrong checksum of their own. */
  readonly broken: readonly string[]
}

/** An open package of either form, read in flat memory. */
export interface PackageSource {
  readonly form: PackageForm
  readonly head: PackageHead
  /** Reads everything once, in the order of the checksum. Throws a FileError when nothing more can be read. */
  walk(visitor: Visitor): Integrity
  memories(): Iterable<PackageMemory>
  /** The log of a package that was verified. */
  log(): Iterable<Fields>
  close(): void
}
