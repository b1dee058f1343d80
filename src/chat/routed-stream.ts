import { AppError } from '../errors.ts'
import type { Attempts } from './attempts.ts'
import type { ChatOutcome } from './chat-counts.ts'
import type { FollowedAttempt } from './followed-attempt.ts'
import { type BookedCost, deliveredInChunk, type Ending, type MeteredAttempt, type MeteredCall } from './metering.ts'
import type { ChatChunk } from './protocol/messages.ts'
import { type ReadyIterator, readyIn } from './protocol/ready.ts'
import { usageSoFar } from './protocol/usage-so-far.ts'
import type { Booking, RouteReport } from './route-report.ts'

/** The account of a stream: counts its chunks, and books it once at its end, before the end is told. */
export interface StreamAccount extends Booking {
  count(next: IteratorResult<ChatChunk>): IteratorResult<ChatChunk>
  end(ending: Ending): void
}

/** The account of a stream; `ended` is told once how it ended. */
export function accountOf(
  entry: MeteredAttempt | undefined,
  metered: MeteredCall | undefined,
  followed: FollowedAttempt,
  ended: (outcome: ChatOutcome) => void,
): StreamAccount {
  let cost: BookedCost | undefined
  let isOver = false
  const { isTraced } = followed
  const end = (ending: Ending) => {
    cost ??= entry?.ended(ending)
    metered?.end()
    if (isOver) return
    isOver = true
    const outcome = ending === 'unsent' ? 'failed' : ending
    followed.ended(outcome, cost)
    ended(outcome)
  }
  return {
    cost: () => cost,
    limitHeaders: (names) => metered?.headers(names),
    count(next) {
      if (next.done) end('answered')
      else if (isTraced) followed.notePart(next.value)
      if (!next.done && entry) {
        const { value } = next
        const bytes = deliveredInChunk(value)
        followed.delivered(bytes, value.usage)
        entry.delivered(bytes)
        if (value.usage || value.extra_content) entry.reported(value)
        const counts = usageSoFar(value)
        if (counts) entry.reportedSoFar(counts)
      }
      return next
    },
    end,
  }
}

export interface GuardedParts {
  readonly report: RouteReport
  readonly account: StreamAccount
  readonly signal: AbortSignal | undefined
  readonly classify: Attempts['classify']
}

/**
 * The chunks of an answer after its commit point: a failure ends the stream with an error that names the target and the reason. An iterator by
 * hand, as in attempts.ts.
 */
export function guarded(
  chunks: AsyncIterable<ChatChunk>,
  { report, account, signal, classify }: GuardedParts,
): ReadyIterator<ChatChunk> {
  const iterator = chunks[Symbol.asyncIterator]()
  const explain = (reason: unknown): never => {
    account.end(signal?.aborted ? 'cancelled' : 'broken')
    if (signal?.aborted) throw new AppError('unavailable', 'The caller went away', { cause: reason })
    const by = report.plugin ?? report.runner ?? 'the provider'
    const { message, provider } = classify(reason, signal)
    throw new AppError('protocol', `The answer of ${by} broke off and is incomplete`, {
      details: [message],
      ...(provider && { provider }),
      cause: reason,
    })
  }
  const count = (next: IteratorResult<ChatChunk>) => {
    try {
      return account.count(next)
    } catch (reason) {
      // A budget is spent: the provider is not read any further.
      account.end('broken')
      iterator.return?.()?.catch(() => undefined)
      throw reason
    }
  }
  return {
    ready() {
      const value = readyIn(iterator)
      if (value !== undefined) count({ done: false, value })
      return value
    },
    next: () => iterator.next().then(count, explain),
    return: async () => {
      account.end('cancelled')
      await iterator.return?.()
      return { done: true as const, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
