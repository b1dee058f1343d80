import type { Span } from '../../formats/json-spans.ts'
import type { PackageForm, PackageHead, PackageMemory } from './format.ts'

/** Called with each record of a package in the order of the file; `index` counts from 0. */
export interface Visitor {
  memory(memory: PackageMemory, index: number): void
  record(record: Readonly<Record<string, unknown>>, index: number): void
  /** A record that cannot be read; the walk goes on with the next one. */
  unreadable(list: 'memories' | 'adaptation_log', index: number, reason: unknown): void
  /** A list or member that breaks off or ends wrongly. */
  broken(name: string, reason: unknown): void
}

/** What a package says its checksum is, and what it is. */
export interface Integrity {
  readonly expected: string | undefined
  readonly actual: string
  /** Members of a container whose own sum is wrong. */
  readonly broken: readonly string[]
}

/** Where the top-level parts of a document stand in its file: what takes a pass over all of it to find. */
export type Outline = readonly (readonly [name: string, span: Span])[]

/** An open package of either form. Everything is read in flat memory. */
export interface PackageSource {
  readonly form: PackageForm
  readonly head: PackageHead
  /** Of a document. */
  readonly outline?: Outline
  /** Reads everything once, in the order that the checksum needs. Throws a FileError when nothing more can be read. */
  walk(visitor: Visitor): Integrity
  /** The memories once more, for whoever knows already that all is well. */
  memories(): Iterable<PackageMemory>
  log(): Iterable<Readonly<Record<string, unknown>>>
  close(): void
}
