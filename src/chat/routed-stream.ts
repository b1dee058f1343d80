import { AppError } from '../errors.ts'
import type { Attempts } from './attempts.ts'
import type { ChatOutcome } from './chat-counts.ts'
import type { FollowedAttempt } from './followed-attempt.ts'
import type { BookedCost, Ending, HeaderNames, MeteredAttempt, MeteredCall } from './metering.ts'
import type { ChatChunk } from './protocol/messages.ts'
import { isEnding, type ReadyIterator, readyIn } from './protocol/ready.ts'
import { AnswerTokens } from './protocol/token-estimate.ts'
import { usageSoFar } from './protocol/usage-so-far.ts'
import type { Booking, RouteReport } from './route-report.ts'

/** The account of a stream: counts its chunks, and books it once at its end, before the end is reported. */
export class StreamAccount implements Booking {
  readonly #entry: MeteredAttempt | undefined
  readonly #metered: MeteredCall | undefined
  readonly #followed: FollowedAttempt
  readonly #ended: (outcome: ChatOutcome) => void
  readonly #answered = new AnswerTokens()
  #cost: BookedCost | undefined
  #isOver = false

  /** `ended` is called once with how the stream ended. */
  constructor(
    entry: MeteredAttempt | undefined,
    metered: MeteredCall | undefined,
    followed: FollowedAttempt,
    ended: (outcome: ChatOutcome) => void,
  ) {
    this.#entry = entry
    this.#metered = metered
    this.#followed = followed
    this.#ended = ended
  }

  cost(): BookedCost | undefined {
    return this.#cost
  }

  limitHeaders(names?: HeaderNames): Readonly<Record<string, string>> | undefined {
    return this.#metered?.headers(names)
  }

  /** Counts a chunk. Throws where a hard budget is spent by it. */
  count(chunk: ChatChunk): void {
    const entry = this.#entry
    if (!entry) return
    let tokens = 0
    for (const { delta } of chunk.choices) tokens += this.#answered.add(delta, chunk.model)
    this.#followed.delivered(tokens, chunk.usage)
    entry.delivered(tokens)
    if (chunk.usage || chunk.extra_content) entry.reported(chunk)
    const counts = usageSoFar(chunk)
    if (counts) entry.reportedSoFar(counts)
  }

  /** Books a whole answer; its end is reported once the promise resolves. */
  async answered(): Promise<void> {
    const booked = this.#cost === undefined ? this.#entry?.answered() : undefined
    this.#cost ??= booked?.cost
    this.#close('answered')
    await booked?.noted
  }

  /** Books an answer that ended in another way. */
  end(ending: Exclude<Ending, 'answered'>): void {
    this.#cost ??= this.#entry?.ended(ending)
    this.#close(ending === 'unsent' ? 'failed' : ending)
  }

  #close(outcome: ChatOutcome): void {
    this.#metered?.end()
    if (this.#isOver) return
    this.#isOver = true
    this.#followed.ended(outcome, this.#cost)
    this.#ended(outcome)
  }
}

export interface GuardedParts {
  readonly report: RouteReport
  readonly account: StreamAccount
  readonly signal: AbortSignal | undefined
  readonly classify: Attempts['classify']
}

/** The chunks after the commit point: a failure ends the stream with an error that names target and reason. */
export class GuardedChunks implements ReadyIterator<ChatChunk> {
  readonly #iterator: AsyncIterator<ChatChunk>
  readonly #parts: GuardedParts

  constructor(chunks: AsyncIterable<ChatChunk>, parts: GuardedParts) {
    this.#iterator = chunks[Symbol.asyncIterator]()
    this.#parts = parts
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  ready(): ChatChunk | undefined {
    const chunk = readyIn(this.#iterator)
    if (chunk !== undefined) this.#count(chunk)
    return chunk
  }

  isEnding(): boolean {
    return isEnding(this.#iterator)
  }

  async next(): Promise<IteratorResult<ChatChunk>> {
    let next: IteratorResult<ChatChunk>
    try {
      next = await this.#iterator.next()
    } catch (reason) {
      throw this.#explained(reason)
    }
    if (next.done) await this.#end()
    else this.#count(next.value)
    return next
  }

  async return(): Promise<IteratorResult<ChatChunk>> {
    this.#parts.account.end('cancelled')
    await this.#iterator.return?.()
    return { done: true, value: undefined }
  }

  #explained(reason: unknown): AppError {
    const { account, signal, report, classify } = this.#parts
    account.end(signal?.aborted ? 'cancelled' : 'broken')
    if (signal?.aborted) return new AppError('unavailable', 'The caller went away', { cause: reason })
    const by = report.plugin ?? report.runner ?? 'the provider'
    const { message, provider } = classify(reason, signal)
    return new AppError('protocol', `The answer of ${by} broke off and is incomplete`, {
      details: [message],
      ...(provider && { provider }),
      cause: reason,
    })
  }

  async #end(): Promise<void> {
    const { account } = this.#parts
    try {
      await account.answered()
    } catch (reason) {
      account.end('broken')
      throw reason
    }
  }

  /** Counts a chunk. Where a budget is spent by it, the provider is not read any further. */
  #count(chunk: ChatChunk): void {
    const { account } = this.#parts
    try {
      account.count(chunk)
    } catch (reason) {
      account.end('broken')
      this.#iterator.return?.()?.catch(() => undefined)
      throw reason
    }
  }
}
