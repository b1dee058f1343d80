import type { FollowedRequest } from './followed-request.ts'
import type { ToldAttempt } from './watch.ts'

/** Requests that are remembered after their end: some 250 kB. */
const mostEnded = 500

/** A request that was counted under this number. */
export type NumberedRequest = FollowedRequest & { readonly number: number }

/**
 * The requests that ended last. They live for longer than V8 leaves objects among the young ones: each would become an old
 * object, and garbage for the next full collection, with all that it refers to. So the places are made once, and take the
 * facts of one request after the other.
 */
export class EndedRequests {
  readonly #places: Ended[] = []
  /** The place that is written next, once all are there. */
  #oldest = 0

  /** Takes the facts of a request that has ended, in the place that it had already where it ended before. */
  note(request: NumberedRequest, place: Ended | undefined): Ended {
    const to = place?.number === request.number ? place : this.#next()
    to.take(request)
    return to
  }

  /** Copies, the last noted first. */
  list(): readonly NumberedRequest[] {
    const places = this.#places
    return [...places.slice(this.#oldest), ...places.slice(0, this.#oldest)].reverse().map((place) => place.told())
  }

  #next(): Ended {
    if (this.#places.length < mostEnded) {
      const place = new Ended()
      this.#places.push(place)
      return place
    }
    const place = this.#places[this.#oldest]!
    this.#oldest = (this.#oldest + 1) % mostEnded
    return place
  }
}

/** A place for the facts of a request. */
export class Ended {
  number = 0
  #requestId: FollowedRequest['requestId']
  #user = ''
  #key: string | undefined
  #purpose: FollowedRequest['facts']['purpose'] = 'chat'
  #asked: string | undefined
  #persona: string | undefined
  #memories: number | undefined
  #startedAt = 0
  #state: FollowedRequest['state'] = 'failed'
  #hasPlace = false
  #plugin: string | null = null
  #runner: string | null = null
  #model = ''
  /** Undefined where the place answered as the only one: then the next two tell of that attempt. */
  #attempts: readonly ToldAttempt[] | undefined
  #tries = 0
  #attemptMs: number | undefined
  #firstContentMs: number | undefined
  #durationMs = 0
  #tokens = 0
  #promptTokens: number | undefined
  #completionTokens: number | undefined
  #hasCost = false
  #usd: string | null = null
  #isEstimated = false
  #input: number | undefined
  #output: number | undefined
  #problem: string | undefined

  /** Takes the facts instead of those of another request. */
  take(request: NumberedRequest): void {
    const { facts, place, attempts, usage, cost } = request
    this.number = request.number
    this.#requestId = request.requestId
    this.#user = facts.user
    this.#key = facts.key
    this.#purpose = facts.purpose
    this.#asked = facts.model
    this.#persona = facts.persona
    this.#memories = facts.memories
    this.#startedAt = request.startedAt
    this.#state = request.state
    this.#hasPlace = place !== undefined
    this.#plugin = place?.plugin ?? null
    this.#runner = place?.runner ?? null
    this.#model = place?.model ?? ''
    const only = attempts.length === 1 ? attempts[0]! : undefined
    const isUsual = only !== undefined && this.#isAnswerOfPlace(only)
    this.#attempts = isUsual ? undefined : attempts
    this.#tries = only?.tries ?? 0
    this.#attemptMs = only?.duration_ms
    this.#firstContentMs = request.firstContentMs
    this.#durationMs = request.durationMs
    this.#tokens = request.tokens
    this.#promptTokens = usage?.prompt_tokens
    this.#completionTokens = usage?.completion_tokens
    this.#hasCost = cost !== undefined
    this.#usd = cost?.cost_usd ?? null
    this.#isEstimated = cost?.estimated === true
    this.#input = cost?.tokens?.input
    this.#output = cost?.tokens?.output
    this.#problem = request.problem
  }

  /** The facts, in an object of their own. */
  told(): NumberedRequest {
    const place = this.#hasPlace ? { plugin: this.#plugin, runner: this.#runner, model: this.#model } : undefined
    const [input, output] = [this.#input, this.#output]
    const [prompt, completion] = [this.#promptTokens, this.#completionTokens]
    return {
      number: this.number,
      id: String(this.number),
      requestId: this.#requestId,
      facts: {
        user: this.#user,
        key: this.#key,
        purpose: this.#purpose,
        model: this.#asked,
        persona: this.#persona,
        memories: this.#memories,
      },
      startedAt: this.#startedAt,
      state: this.#state,
      place,
      attempts: this.#attempts ?? [this.#attempt()],
      firstContentMs: this.#firstContentMs,
      durationMs: this.#durationMs,
      tokens: this.#tokens,
      usage:
        prompt === undefined || completion === undefined
          ? undefined
          : { prompt_tokens: prompt, completion_tokens: completion },
      cost: this.#hasCost
        ? {
            cost_usd: this.#usd,
            estimated: this.#isEstimated,
            ...(input !== undefined && output !== undefined && { tokens: { input, output } }),
          }
        : undefined,
      problem: this.#problem,
    }
  }

  #attempt(): ToldAttempt {
    const [plugin, runner, model] = [this.#plugin, this.#runner, this.#model]
    const ms = this.#attemptMs
    return {
      plugin,
      runner,
      model,
      tries: this.#tries,
      outcome: 'answered',
      ...(ms !== undefined && { duration_ms: ms }),
    }
  }

  #isAnswerOfPlace(attempt: ToldAttempt): boolean {
    return (
      attempt.outcome === 'answered' &&
      this.#hasPlace &&
      attempt.plugin === this.#plugin &&
      attempt.runner === this.#runner &&
      attempt.model === this.#model &&
      attempt.key === undefined &&
      attempt.class === undefined &&
      attempt.status === undefined &&
      attempt.error === undefined
    )
  }
}
