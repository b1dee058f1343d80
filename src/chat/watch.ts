import type { Attempt } from './attempts.ts'
import type { ChatOutcome } from './chat-counts.ts'
import type { BookedCost } from './metering.ts'
import type { Usage } from './protocol/messages.ts'

/** A place that a request is sent to. */
export type AskedPlace = Pick<Attempt, 'plugin' | 'runner' | 'model'>

/** An attempt as it is reported: its duration is known for chats alone. */
export type ToldAttempt = Omit<Attempt, 'duration_ms'> & Partial<Pick<Attempt, 'duration_ms'>>

/**
 * Follows one request through the core, for its log line and observers. Made by the face that received the request.
 */
export interface RequestWatch {
  readonly requestId?: string | undefined
  asks?(place: AskedPlace): void
  /** Called once the place that is asked begins to stream, before the first content. */
  accepted?(): void
  /** Called before a place that failed is asked again, in so many milliseconds. */
  retries?(place: AskedPlace, waitMs: number): void
  attempted(attempt: ToldAttempt): void
  /** Called at the first content of a stream. */
  begun?(): void
  /** Called with each part of an answer: its tokens by estimate, and those so far where they are reported. */
  delivered?(tokens: number, usage: Usage | null | undefined): void
  /** Called when the request ends, for each round of a chat with tools; only the first call counts. */
  ended?(outcome: ChatOutcome, more?: { readonly cost?: BookedCost | undefined; readonly reason?: unknown }): void
}
