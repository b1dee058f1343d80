import type { Attempt } from './attempts.ts'
import type { BookedCost, HeaderNames } from './metering.ts'

/** The target that answered, and the tries before it. */
export interface RouteReport {
  readonly plugin: string | null
  /** The local runner that answered, or null when a plugin did. */
  readonly runner: string | null
  readonly model: string
  /** True when another target answered than the first one asked. */
  readonly fallback: boolean
  readonly attempts: readonly Attempt[]
  readonly warnings: readonly string[]
  /** Nothing was sent to another machine, as the caller or the operator wanted it. */
  readonly local_only?: true
}

export interface Booking {
  /** The cost of the answer: undefined before a stream has ended. */
  cost(): BookedCost | undefined
  /** Headers that tell the client its limits. */
  limitHeaders(names?: HeaderNames): Readonly<Record<string, string>> | undefined
}
