import { AppError } from '../errors.ts'
import { Bag, type Kept } from '../process/process.ts'
import type { ChatOutcome } from './chat-counts.ts'
import { type Ended, EndedRequests } from './ended-requests.ts'
import type { FollowedRequest, RequestFacts } from './followed-request.ts'
import type { Usage } from './protocol/messages.ts'
import type { AskedPlace, RequestWatch, ToldAttempt } from './watch.ts'

/** The requests to models that are under way in this process, and those that ended last. */
export type RequestBook = ReturnType<typeof createRequestBook>

export interface RequestBookParts {
  /** Milliseconds, monotonic. */
  readonly now: () => number
  /** Milliseconds since 1970 UTC. */
  readonly clock: () => number
}

/** Keeps requests in memory: a new process begins with none. */
export function createRequestBook({ now, clock }: RequestBookParts) {
  const live = new Bag<Followed>()
  const ended = new EndedRequests()
  let last = 0
  const places: Places = {
    now,
    enter: (request) => live.add(request),
    leave(request, kept, remembered) {
      if (kept) live.remove(kept)
      return ended.note(request, remembered)
    },
  }
  const underWay = () => [...live.items()].sort((a, b) => b.number - a.number)
  return {
    /** Follows a request from the first place that it asks; `watch` continues following it too. */
    follow: (watch: RequestWatch | undefined, facts: RequestFacts) =>
      new Followed(places, watch, facts, ++last, clock()),
    /** Those under way, and then the ended ones, each newest first. */
    list(): readonly FollowedRequest[] {
      const first = underWay()
      const numbers = new Set(first.map(({ number }) => number))
      return [...first, ...ended.list().filter(({ number }) => !numbers.has(number))]
    },
    find(id: string): FollowedRequest | undefined {
      const isIt = (request: FollowedRequest) => request.id === id
      return live.items().find(isIt) ?? ended.list().find(isIt)
    },
  }
}

interface Places {
  readonly now: () => number
  enter(request: Followed): Kept<Followed>
  /** Returns the place that remembers it, for a further time that it ends. */
  leave(request: Followed, kept: Kept<Followed> | undefined, remembered: Ended | undefined): Ended
}

class Followed implements FollowedRequest, RequestWatch {
  /** Counts the requests of this process. */
  readonly number: number
  readonly facts: RequestFacts
  readonly startedAt: number
  state: FollowedRequest['state'] = 'asking'
  place: AskedPlace | undefined
  readonly attempts: ToldAttempt[] = []
  firstContentMs: number | undefined
  tokens = 0
  usage: FollowedRequest['usage']
  cost: FollowedRequest['cost']
  problem: string | undefined
  readonly #places: Places
  readonly #watch: RequestWatch | undefined
  readonly #begunAt: number
  #endedAt: number | undefined
  /** While it is under way. */
  #kept: Kept<Followed> | undefined
  #remembered: Ended | undefined

  constructor(places: Places, watch: RequestWatch | undefined, facts: RequestFacts, number: number, startedAt: number) {
    this.#places = places
    this.#watch = watch
    this.#begunAt = places.now()
    this.facts = facts
    this.number = number
    this.startedAt = startedAt
  }

  get id(): string {
    return String(this.number)
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
    this.#kept ??= this.#places.enter(this)
    this.#watch?.asks?.(place)
  }

  accepted(): void {
    this.#watch?.accepted?.()
  }

  retries(place: AskedPlace, waitMs: number): void {
    this.#watch?.retries?.(place, waitMs)
  }

  attempted(attempt: ToldAttempt): void {
    this.attempts.push(attempt)
    this.#watch?.attempted(attempt)
  }

  begun(): void {
    this.state = 'answering'
    this.firstContentMs ??= Math.round(this.#places.now() - this.#begunAt)
  }

  delivered(tokens: number, usage: Usage | null | undefined): void {
    this.tokens += tokens
    if (usage) this.usage = usage
  }

  ended(outcome: ChatOutcome, { cost, reason }: Parameters<NonNullable<RequestWatch['ended']>>[1] = {}): void {
    if (this.#endedAt !== undefined) return
    this.state = outcome
    this.cost = cost ?? this.cost
    this.problem = reason instanceof AppError ? reason.message : undefined
    this.#endedAt = this.#places.now()
    this.#remembered = this.#places.leave(this, this.#kept, this.#remembered)
    this.#kept = undefined
  }
}

/** The states of a request under way. */
export const liveStates: ReadonlySet<FollowedRequest['state']> = new Set(['asking', 'answering'])
