import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../errors.ts'
import { deadlineReached } from '../http/http.ts'
import type { Circuits, Refusal } from './circuit.ts'
import { isOfKey } from './key-pool.ts'
import { classifyFailure, type Failure } from './protocol/failure.ts'
import type { ChatChunk, ChatRequest } from './protocol/messages.ts'
import { isEnding, type ReadyIterator, readyIn } from './protocol/ready.ts'
import { RefusedReply, type Target } from './provider.ts'

/** One target's part in answering a request, for the reply's `aichat.attempts`. */
export interface Attempt {
  readonly plugin: string | null
  readonly runner: string | null
  readonly model: string
  /** The variable of the key that was asked last, where the plugin has several. */
  readonly key?: string
  /** Requests sent; 0 when the circuit was open, the key missing, or the place not permitted to the caller. */
  readonly tries: number
  readonly outcome: 'answered' | 'failed'
  readonly class?: Failure['class'] | 'configuration' | 'limit' | 'not_permitted'
  readonly error?: string
  readonly status?: number
  /** Milliseconds from the first try to the last result. */
  readonly duration_ms: number
}

/** A target that could not answer. `failure` is undefined where nothing was sent because something must be set up first. */
export class AttemptFailed extends Error {
  override readonly name = 'AttemptFailed'
  readonly attempt: Attempt
  readonly failure: Failure | undefined
  readonly setup: AppError | undefined
  /** The next step for this target, where there is one. */
  readonly advice: string | undefined

  constructor(
    attempt: Attempt,
    failure: Failure | undefined,
    { setup, advice }: { readonly setup?: AppError; readonly advice?: string | undefined } = {},
  ) {
    super(attempt.error ?? 'failed')
    this.attempt = attempt
    this.failure = failure
    this.setup = setup
    this.advice = advice
  }
}

/** The state that all tries of one request share. */
export interface Deadline {
  /** Milliseconds on the monotonic clock. */
  readonly endsAt: number
  /** Tries that are left over all targets. */
  triesLeft: number
  /** The id of the asking user. */
  readonly user?: string | undefined
  /** The conversation or caller that keeps its key at a provider with several. */
  readonly asker?: string | undefined
  /** Follows the tries of a target; see RequestWatch. */
  readonly follows?:
    | {
        accepted?(): void
        retries?(place: Pick<Attempt, 'plugin' | 'runner' | 'model'>, waitMs: number): void
      }
    | undefined
}

/** A target's answer, and the tries it took. */
export interface Answered<T> {
  readonly value: T
  readonly attempt: Attempt
}

export type Attempts = ReturnType<typeof createAttempts>

export interface AttemptsParts {
  readonly circuits: Circuits
  /** Milliseconds, monotonic. */
  readonly now: () => number
  /** Milliseconds since 1970 UTC, for waits that are given as dates. */
  readonly clock: () => number
  readonly random: () => number
  /** Takes keys out of a provider's words. */
  readonly redact: (text: string) => string
  /** Milliseconds; without it the usual 500. */
  readonly firstWait?: number | undefined
}

/** Waits between tries: from 500 ms doubling to 8 s as the providers' own clients do, full jitter (AWS, "Exponential Backoff And Jitter"). */
const usualFirstWait = 500
const longestWait = 8_000

/** The retry loop over one target; the deadline and the number of tries are shared by all targets of a request. */
export function createAttempts({ circuits, now, clock, random, redact, firstWait = usualFirstWait }: AttemptsParts) {
  return {
    ask: (target: Target, request: ChatRequest, deadline: Deadline, signal?: AbortSignal) =>
      tryTarget(target, deadline, signal, (key) => target.ask(request, signal, deadline.endsAt, deadline.user, key)),
    /** Resolves at the commit point: the first content has been read, nothing of it has been shown. */
    stream: (target: Target, request: ChatRequest, deadline: Deadline, signal?: AbortSignal) =>
      tryTarget(target, deadline, signal, (key) => openStream(target, request, signal, deadline, key)),
    classify,
  }

  /** The one retry loop: the same request again only while it can help, the budget lasts, and the caller still waits. */
  async function tryTarget<T>(
    target: Target,
    deadline: Deadline,
    signal: AbortSignal | undefined,
    run: (key: string | undefined) => Promise<T>,
  ): Promise<Answered<T>> {
    const name = circuitName(target)
    const begun = now()
    let waited = 0
    let tries = 0
    let key: string | undefined
    /** Tries that went to another key at once, and are no repetition. */
    let switched = 0
    const describe = (outcome: Attempt['outcome'], failure?: Failure): Attempt => ({
      plugin: target.plugin,
      runner: target.runner,
      model: target.model,
      ...(key !== undefined && { key }),
      tries,
      outcome,
      ...(failure && {
        class: failure.class,
        error: failure.message,
        ...(failure.status !== undefined && { status: failure.status }),
      }),
      duration_ms: Math.round(now() - begun),
    })
    const failed = (failure: Failure) =>
      new AttemptFailed(describe('failed', failure), failure, {
        advice: failure.class === 'auth' ? target.refusedAdvice?.(key) : undefined,
      })

    const refusal = circuits.refusal(name, target.identity)
    if (refusal) {
      const failure = resting(refusal)
      throw failed(failure)
    }

    const pool = target.keys?.()
    for (;;) {
      if (pool) {
        key = pool.choose(deadline.asker ?? '', target.model)
        const rest = key === undefined ? pool.rest(target.model) : undefined
        if (rest) {
          // Until now it was to be tried: the circuit is as it was.
          circuits.failed(name, target.identity, cancelled)
          throw failed(resting({ failure: rest.failure, retryAfterMs: rest.ms }))
        }
      }
      tries++
      deadline.triesLeft--
      try {
        const value = await run(key)
        circuits.succeeded(name)
        return { value, attempt: describe('answered') }
      } catch (thrown) {
        if (thrown instanceof AppError) {
          tries--
          circuits.failed(name, target.identity, cancelled)
          throw new AttemptFailed(
            {
              ...describe('failed'),
              class: thrown.code === 'invalid' ? 'request' : 'configuration',
              error: redact(thrown.message),
            },
            undefined,
            { setup: thrown },
          )
        }
        const failure = classify(thrown, signal)
        if (pool && key !== undefined && isOfKey(failure)) {
          pool.failed(key, target.model, failure)
          circuits.failed(name, target.identity, cancelled)
          const hasOther = pool.rest(target.model) === undefined
          if (hasOther && deadline.triesLeft > 0 && now() < deadline.endsAt && !signal?.aborted) {
            switched++
            continue
          }
        } else circuits.failed(name, target.identity, failure)
        const wait = failure.waitMs ?? random() * Math.min(longestWait, firstWait * 2 ** (tries - 1))
        const again =
          failure.retryable &&
          tries - switched < target.retry.attempts &&
          deadline.triesLeft > 0 &&
          waited + wait <= target.retry.budgetMs &&
          now() + wait < deadline.endsAt &&
          !signal?.aborted
        if (!again) throw failed(failure)
        waited += wait
        deadline.follows?.retries?.(target, wait)
        if (wait >= 1) await sleep(wait, undefined, signal ? { signal } : {}).catch(() => {})
      }
    }
  }

  /** Classifies a try's failure; keys in the provider's words are redacted. */
  function classify(thrown: unknown, signal: AbortSignal | undefined): Failure {
    const failure = classOf(thrown, signal)
    const { provider } = failure
    return {
      ...failure,
      message: redact(failure.message),
      ...(provider && { provider: JSON.parse(redact(JSON.stringify(provider))) }),
    }
  }

  function classOf(thrown: unknown, signal: AbortSignal | undefined): Failure {
    if (signal?.aborted) return cancelled
    if (thrown === deadlineReached) return outOfTime
    if (thrown instanceof RefusedReply) {
      return classifyFailure({
        status: thrown.status,
        headers: thrown.headers,
        ...(thrown.error && { error: thrown.error }),
        now: clock(),
      })
    }
    return classifyFailure({ thrown, now: clock() })
  }
}

const cancelled: Failure = { class: 'cancelled', retryable: false, message: 'the caller went away' }
const outOfTime: Failure = {
  class: 'down',
  retryable: false,
  message: 'no answer within the time allowed',
  code: 'TIMEOUT',
}

function circuitName(target: Pick<Target, 'plugin' | 'runner' | 'model'>): string {
  return `${target.plugin ?? `local:${target.runner}`}|${target.model}`
}

/** The failure that opened a circuit, given to a request that was not sent because of it. */
function resting({ failure, retryAfterMs }: Refusal): Failure {
  const isRest = failure.class === 'rate' || failure.class === 'down' || failure.class === 'protocol'
  return {
    ...failure,
    message: `not tried, because it failed before: ${failure.message}`,
    ...(isRest && Number.isFinite(retryAfterMs) && { waitMs: retryAfterMs }),
  }
}

/** Reads a stream to its first content (text, thought, call, finish): a failure before it is invisible to clients. */
async function openStream(
  target: Target,
  request: ChatRequest,
  signal: AbortSignal | undefined,
  { endsAt, user, follows }: Deadline,
  key: string | undefined,
): Promise<AsyncIterable<ChatChunk>> {
  const iterator = (await target.stream(request, signal, endsAt, user, key))[Symbol.asyncIterator]()
  follows?.accepted?.()
  const held: ChatChunk[] = []
  for (;;) {
    const next = await iterator.next()
    if (next.done) break
    held.push(next.value)
    if (hasContent(next.value)) break
  }
  return new ResumedChunks(held, iterator)
}

/** The held chunks, then the rest. An iterator by hand: a generator would cost 2 µs a chunk. */
class ResumedChunks implements ReadyIterator<ChatChunk> {
  readonly #held: readonly ChatChunk[]
  readonly #rest: AsyncIterator<ChatChunk>
  #given = 0

  constructor(held: readonly ChatChunk[], rest: AsyncIterator<ChatChunk>) {
    this.#held = held
    this.#rest = rest
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  ready(): ChatChunk | undefined {
    return this.#given < this.#held.length ? this.#held[this.#given++] : readyIn(this.#rest)
  }

  isEnding(): boolean {
    return this.#given === this.#held.length && isEnding(this.#rest)
  }

  next(): Promise<IteratorResult<ChatChunk>> {
    if (this.#given === this.#held.length) return this.#rest.next()
    return Promise.resolve({ done: false, value: this.#held[this.#given++]! })
  }

  async return(): Promise<IteratorResult<ChatChunk>> {
    this.#given = this.#held.length
    await this.#rest.return?.()
    return { done: true, value: undefined }
  }
}

function hasContent(chunk: ChatChunk): boolean {
  return chunk.choices.some(
    ({ delta, finish_reason }) =>
      finish_reason !== null ||
      Boolean(delta.content) ||
      Boolean(delta.reasoning_content) ||
      Boolean(delta.refusal) ||
      (delta.tool_calls?.length ?? 0) > 0,
  )
}
