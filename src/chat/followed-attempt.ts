import type { ChatCounts, ChatOutcome } from './chat-counts.ts'
import type { BookedCost } from './metering.ts'
import type { Usage } from './protocol/messages.ts'
import type { Target } from './provider.ts'
import type { RequestWatch } from './watch.ts'

export interface FollowedParts {
  readonly counts: ChatCounts | undefined
  /** Milliseconds, monotonic. */
  readonly now: () => number
  readonly watch: RequestWatch | undefined
}

/** Follows a target from its first try to the end of its answer, for the metrics and the request's watch. */
export class FollowedAttempt {
  readonly #parts: FollowedParts
  readonly #target: Target
  readonly #begunAt: number

  constructor(parts: FollowedParts, target: Target) {
    this.#parts = parts
    this.#target = target
    this.#begunAt = parts.now()
    parts.watch?.asks?.(target)
  }

  /** The first content of a stream has come. */
  begun(): void {
    this.#parts.counts?.begun(this.#target, this.#seconds())
    this.#parts.watch?.begun?.()
  }

  /** A part of the answer has come, of so many tokens. */
  delivered(tokens: number, usage: Usage | null | undefined): void {
    this.#parts.watch?.delivered?.(tokens, usage)
  }

  ended(outcome: ChatOutcome, cost?: BookedCost): void {
    this.#parts.watch?.ended?.(outcome, { cost })
    if (outcome === 'answered') this.#parts.counts?.answered(this.#target, this.#seconds())
  }

  #seconds(): number {
    return (this.#parts.now() - this.#begunAt) / 1000
  }
}
