import type { ChatOutcome } from './chat-counts.ts'
import type { BookedCost, Purpose } from './metering.ts'
import type { Usage } from './protocol/messages.ts'
import type { AskedPlace, ToldAttempt } from './watch.ts'

/** The facts of a request that are known before any place is asked. */
export interface RequestFacts {
  /** The id of the asking user, and that of the API key. */
  readonly user: string
  readonly key?: string | undefined
  readonly purpose: Purpose
  readonly model?: string | undefined
  /** The persona as the caller named it, and how many of its memories went in. */
  readonly persona?: string | undefined
  readonly memories?: number | undefined
}

/** A followed request: its course so far, never its content. */
export interface FollowedRequest {
  readonly id: string
  readonly requestId: string | undefined
  readonly facts: RequestFacts
  /** Milliseconds since 1970 UTC. */
  readonly startedAt: number
  readonly state: 'asking' | 'answering' | ChatOutcome
  /** The place that is asked now, or was asked last. */
  readonly place: AskedPlace | undefined
  readonly attempts: readonly ToldAttempt[]
  /** Milliseconds from the start to the first content of a stream, and so far or in all. */
  readonly firstContentMs: number | undefined
  readonly durationMs: number
  /** Bytes of the answer so far, and the tokens that the provider has reported. */
  readonly tokens: number
  readonly usage: Pick<Usage, 'prompt_tokens' | 'completion_tokens'> | undefined
  readonly cost: Pick<BookedCost, 'cost_usd' | 'estimated' | 'tokens'> | undefined
  /** The failure of an unanswered request. */
  readonly problem: string | undefined
}
