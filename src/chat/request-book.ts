import { AppError } from '../errors.ts'
import type { Span } from '../telemetry/span.ts'
import type { ChatOutcome } from './chat-counts.ts'
import type { BookedCost, Purpose } from './metering.ts'
import type { Usage } from './protocol/messages.ts'
import type { AskedPlace, RequestWatch, ToldAttempt } from './watch.ts'

/** The facts of a request that are known before any place is asked. */
export interface RequestFacts {
  /** The id of the asking user, and that of the API key. */
  readonly user: string
  readonly key?: string | undefined
  readonly purpose: Purpose
  /** The model as the caller named it. */
  readonly model?: string | undefined
  /** The persona as the caller named it, and how many of its memories went in. */
  readonly persona?: string | undefined
  readonly memories?: number | undefined
}

/** A followed request: its course so far, never its content. */
export interface FollowedRequest {
  readonly id: string
  /** The id of the HTTP request. */
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
  /** Bytes of the answer so far, and the tokens that the provider has told. */
  readonly bytes: number
  readonly usage: Pick<Usage, 'prompt_tokens' | 'completion_tokens'> | undefined
  readonly cost: BookedCost | undefined
  /** The failure of an unanswered request. */
  readonly problem: string | undefined
}

/** The requests to models that are under way in this process, and those that ended last. */
export interface RequestBook {
  /** Follows a request from the first place that it asks; `watch` goes on following it too. */
  follow(watch: RequestWatch | undefined, facts: RequestFacts): RequestWatch
  /** Those under way, and then the ended ones, each newest first. */
  list(): readonly FollowedRequest[]
  find(id: string): FollowedRequest | undefined
}

/** Requests that are remembered after their end: some 500 kB. */
const mostEnded = 500

export interface RequestBookParts {
  /** Milliseconds, monotonic. */
  readonly now: () => number
  /** Milliseconds since 1970 UTC. */
  readonly clock: () => number
}

/** Keeps requests in memory: a new process begins with none. */
export function createRequestBook({ now, clock }: RequestBookParts): RequestBook {
  const live = new Map<string, Followed>()
  const ended: Followed[] = []
  let last = 0
  const places: Places = {
    now,
    enter(request) {
      live.set(request.id, request)
    },
    leave(request) {
      live.delete(request.id)
      if (ended.includes(request)) return
      ended.push(request)
      if (ended.length > mostEnded) ended.shift()
    },
  }
  return {
    follow: (watch, facts) => new Followed(places, watch, facts, String(++last), clock()),
    list: () => [...[...live.values()].reverse(), ...ended.filter(({ id }) => !live.has(id)).reverse()],
    find: (id) => live.get(id) ?? ended.find((request) => request.id === id),
  }
}

interface Places {
  readonly now: () => number
  enter(request: Followed): void
  leave(request: Followed): void
}

class Followed implements FollowedRequest, RequestWatch {
  readonly id: string
  readonly facts: RequestFacts
  readonly startedAt: number
  state: FollowedRequest['state'] = 'asking'
  place: AskedPlace | undefined
  readonly attempts: ToldAttempt[] = []
  firstContentMs: number | undefined
  bytes = 0
  usage: FollowedRequest['usage']
  cost: BookedCost | undefined
  problem: string | undefined
  readonly #places: Places
  readonly #watch: RequestWatch | undefined
  readonly #begunAt: number
  #endedAt: number | undefined

  constructor(places: Places, watch: RequestWatch | undefined, facts: RequestFacts, id: string, startedAt: number) {
    this.#places = places
    this.#watch = watch
    this.#begunAt = places.now()
    this.facts = facts
    this.id = id
    this.startedAt = startedAt
  }

  get span(): Span | undefined {
    return this.#watch?.span
  }

  get requestId(): string | undefined {
    return this.#watch?.requestId
  }

  get durationMs(): number {
    return Math.round((this.#endedAt ?? this.#places.now()) - this.#begunAt)
  }

  asks(place: AskedPlace): void {
    this.place = place
    this.state = 'asking'
    this.problem = undefined
    // A chat with tools asks again after it was answered.
    this.#endedAt = undefined
    this.#places.enter(this)
  }

  attempted(attempt: ToldAttempt): void {
    this.attempts.push(attempt)
    this.#watch?.attempted(attempt)
  }

  begun(): void {
    this.state = 'answering'
    this.firstContentMs ??= Math.round(this.#places.now() - this.#begunAt)
  }

  delivered(bytes: number, usage: Usage | null | undefined): void {
    this.bytes += bytes
    if (usage) this.usage = usage
  }

  ended(outcome: ChatOutcome, { cost, reason }: Parameters<NonNullable<RequestWatch['ended']>>[1] = {}): void {
    if (this.#endedAt !== undefined) return
    this.state = outcome
    this.cost = cost ?? this.cost
    this.problem = reason instanceof AppError ? reason.message : undefined
    this.#endedAt = this.#places.now()
    this.#places.leave(this)
  }
}

/** The states of a request under way. */
export const liveStates: ReadonlySet<FollowedRequest['state']> = new Set(['asking', 'answering'])
