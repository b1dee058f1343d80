import type { ChangeKind } from './changes.ts'

/** A database that several instances share, as faces and areas see it. */
export interface SharedDatabase {
  /** The id of the installation, the same on all instances. */
  readonly id: string
  /** Without password. */
  readonly name: string
  /** Whether it is known to be away. */
  isAway(): boolean
  /** Whether any login may go on: it answers, or the grace since its last answer lasts. */
  isUsable(): boolean
  /** Called when it goes away, with the reason, and, without one, when it is back. */
  onAway(listener: (reason: unknown) => void): void
  /** Calls back when another value of a mark is known. */
  onChange(kind: ChangeKind, listener: () => void): void
}
