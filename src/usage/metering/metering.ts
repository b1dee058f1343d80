import {
  type BookedCost,
  type Countable,
  type Ending,
  type HeaderNames,
  type MeteredAttempt,
  type MeteredCall,
  type MeteredPlace,
  type MeteredRequest,
  type Metering,
  type Payer,
  PlaceRefused,
  type Purpose,
  type Reported,
  type UsageSoFar,
} from '../../chat/chat.ts'
import type { Amounts, Cost, PriceList } from '../cost.ts'
import type { Days } from '../days.ts'
import type { Ledger, LedgerRow } from '../ledger/ledger.ts'
import type { Admission, Limits, Size } from '../limits/limits.ts'
import { isOfPlace } from '../limits/refusals.ts'
import { usdOf } from '../money.ts'
import { amountsOf } from './amounts.ts'
import { createEstimates, type Estimates } from './estimates.ts'
import type { TokenCounts } from './token-counts.ts'

export interface MeteringParts {
  readonly ledger: Pick<Ledger, 'book' | 'bookTogether' | 'nextRequest'>
  readonly prices: PriceList
  readonly tokens: Pick<TokenCounts, 'add'>
  readonly limits: Limits
  readonly days: Days
  /** Whether a plugin's provider continues, and bills, after its caller has left. */
  readonly goesOn: (plugin: string) => boolean
  /** Milliseconds, monotonic. */
  readonly now: () => number
  /** Milliseconds since 1970 UTC. */
  readonly clock: () => number
}

/** Books every attempt in the ledger with its cost, within the limits of the installation. */
export function createMetering(parts: MeteringParts): Metering {
  const estimates = createEstimates()
  return {
    begin: (payer, purpose, request) => new Call(parts, estimates, payer, purpose, request),
  }
}

/** One request: a class, so that it costs one allocation on the way of every chat. */
class Call implements MeteredCall {
  readonly parts: MeteringParts
  readonly estimates: Estimates
  readonly payer: Payer
  readonly purpose: Purpose
  request: () => MeteredRequest
  readonly id: string
  admission: Admission | undefined
  attempts = 0

  constructor(
    parts: MeteringParts,
    estimates: Estimates,
    payer: Payer,
    purpose: Purpose,
    request: () => MeteredRequest,
  ) {
    this.parts = parts
    this.estimates = estimates
    this.payer = payer
    this.purpose = purpose
    this.request = request
    this.id = parts.ledger.nextRequest()
    this.admission = parts.limits.admit(payer, () => this.size(''))
  }

  attempt(place: MeteredPlace, fitted?: MeteredRequest): MeteredAttempt | Promise<MeteredAttempt> {
    if (fitted) this.request = () => fitted
    const { limits, prices, clock } = this.parts
    this.admission ??= limits.admitPlugin(this.payer, place, () => this.size(place.model))
    const { admission } = this
    if (!admission) return new Booked(this, place, undefined)
    try {
      const reserved = admission.reserve(place, ({ input, output }) =>
        // Speech costs nothing, and has no price.
        this.purpose === 'speech' ? 0 : prices.mostFor(place, input, output, clock()),
      )
      return reserved instanceof Promise
        ? reserved.then((id) => new Booked(this, place, id), refused)
        : new Booked(this, place, reserved)
    } catch (reason) {
      return refused(reason)
    }
  }

  headers(names?: HeaderNames): Readonly<Record<string, string>> | undefined {
    return this.admission?.headers(names)
  }

  end(): void {
    this.admission?.release()
  }

  private size(model: string): Size {
    if (this.purpose === 'speech') return { input: 0, output: 0 }
    const request = this.request()
    if (this.purpose === 'embeddings') return { input: this.estimates.inputOf(model, request as Countable), output: 0 }
    const bound = request.max_completion_tokens ?? request.max_tokens ?? this.estimates.longestOf(model)
    return {
      input: this.estimates.inputOf(model, request as Countable),
      // Each of several answers has that bound.
      output: Math.min(bound * Math.max(request.n ?? 1, 1), Number.MAX_SAFE_INTEGER),
    }
  }
}

/** One attempt of a request. */
class Booked implements MeteredAttempt {
  readonly call: Call
  readonly place: MeteredPlace
  readonly reservation: string | undefined
  readonly number: number
  readonly begun: number
  /** Tokens delivered, as `AnswerTokens` counts them; and those of them that came after the last counts under way. */
  counted = 0
  since = 0
  /** When the first content came: milliseconds, monotonic. */
  first: number | undefined
  /** The estimate of the input, once it was asked: tokens. */
  input: number | undefined
  lastReport: Reported = {}
  soFar: UsageSoFar | undefined
  cost: BookedCost | undefined

  constructor(call: Call, place: MeteredPlace, reservation: string | undefined) {
    this.call = call
    this.place = place
    this.reservation = reservation
    this.number = ++call.attempts
    this.begun = call.parts.now()
  }

  delivered(tokens: number): void {
    this.first ??= this.call.parts.now()
    this.counted += tokens
    this.since += tokens
    if (this.reservation === undefined) return
    const cut = this.call.admission?.exceeded(() => this.costByNow())
    if (cut) throw cut
  }

  reported({ usage, service_tier, extra_content, characters }: Reported): void {
    const { lastReport } = this
    this.lastReport = {
      usage: usage ?? lastReport.usage,
      service_tier: service_tier ?? lastReport.service_tier,
      extra_content: extra_content ? { ...lastReport.extra_content, ...extra_content } : lastReport.extra_content,
      characters: characters ?? lastReport.characters,
    }
  }

  reportedSoFar(counts: UsageSoFar): void {
    this.soFar = counts
    this.since = 0
  }

  ended(ending: Ending, reason?: string): BookedCost {
    this.cost ??= this.book(ending, this.call.parts.ledger.book, reason)
    return this.cost
  }

  answered(): { readonly cost: BookedCost; readonly noted: Promise<void> } {
    let noted = booked
    this.cost ??= this.book('answered', (row) => {
      noted = this.call.parts.ledger.bookTogether(row)
    })
    return { cost: this.cost, noted }
  }

  private book(ending: Ending, note: (row: LedgerRow) => void, reason?: string): BookedCost {
    const { call, place, reservation } = this
    const { prices, tokens, days, now, clock } = call.parts
    if (ending === 'unsent') {
      call.admission?.settle(undefined, undefined)
      return nothing
    }
    const lastReport = amountsOf(this.lastReport)
    // A prompt that Ollama has in its cache is not counted (https://github.com/ollama/ollama/issues/2068).
    const isWhole = lastReport !== undefined && (lastReport.input > 0 || lastReport.output === 0)
    const amounts = isWhole ? lastReport : this.estimated(ending, lastReport)
    const at = clock()
    const cost = ending === 'failed' && !lastReport ? free : prices.costOf(place, amounts, at)
    const estimated = !isWhole && ending !== 'failed'
    // An answer that is not streamed is delivered at its end.
    const first = call.purpose === 'chat' && call.request().stream === true ? this.first : undefined
    if (lastReport && ending === 'answered')
      call.estimates.learn(place.model, lastReport, this.counted, () => call.request() as Countable)
    call.admission?.settle(amounts, cost)
    tokens.add(place, amounts)
    note({
      request: call.id,
      attempt: this.number,
      at,
      day: days.dayOf(at),
      user: call.payer.user,
      key: call.payer.key ?? null,
      plugin: place.plugin,
      model: place.model,
      purpose: call.purpose,
      outcome: ending,
      estimated,
      lowerBound: estimated && ending === 'cancelled' && place.plugin !== null && this.goesOn(place.plugin),
      amounts,
      cost,
      durationMs: Math.max(0, Math.round(now() - this.begun)),
      ...(first !== undefined && { firstMs: Math.max(0, Math.round(first - this.begun)) }),
      ...(reason && ending !== 'answered' && { reason }),
      ...(reservation !== undefined && { reservation }),
    })
    const { nano, source } = cost
    const { input, output } = amounts
    return {
      cost_usd: nano === null ? null : usdOf(nano),
      cost_nano: nano,
      source,
      estimated,
      ...(call.purpose === 'chat' && { tokens: { input, output } }),
    }
  }

  /**
   * Whether the provider continues, and bills, after the caller has left: any does with an answer that is not streamed, which
   * an abort does not reach (https://openrouter.ai/docs/api-reference/streaming, "Stream cancellation"). Of embeddings all
   * is known, their input.
   */
  private goesOn(plugin: string): boolean {
    const { parts, purpose, request } = this.call
    return parts.goesOn(plugin) || (purpose !== 'embeddings' && request().stream !== true)
  }

  /** The cost of the delivered part, as far as it is known: nano-USD. */
  private costByNow(): number | null {
    const { estimates, parts, request } = this.call
    this.input ??= estimates.inputOf(this.place.model, request() as Countable)
    const output = estimates.outputOf(this.place.model, this.counted)
    return parts.prices.costOf(this.place, { input: this.input, output }, parts.clock()).nano
  }

  /** The amounts where the provider reported none, or none at the end. One that failed before content has done nothing. */
  private estimated(ending: Ending, lastReport: Amounts | undefined): Amounts {
    if (ending === 'failed') return { input: 0, output: 0 }
    const { estimates, request } = this.call
    const { model } = this.place
    if (lastReport) return { ...lastReport, input: estimates.inputOf(model, request() as Countable) }
    const begun = this.soFar && amountsOf(this.soFar)
    const first = begun?.output ?? 0
    // Gemini's first events tell the prompt alone.
    const after = this.soFar?.isWhole ? 0 : first > 0 ? this.since : this.counted
    const output = first + estimates.outputOf(model, after)
    if (begun && begun.input > 0) return { ...begun, output }
    return { input: estimates.inputOf(model, request() as Countable), output }
  }
}

/** Throws the reason of a refused place: as a refusal of the place alone, where another one may be asked. */
function refused(reason: unknown): never {
  throw isOfPlace(reason) ? new PlaceRefused(reason) : reason
}

const booked = Promise.resolve()
const free: Cost = { nano: 0, source: null, priceId: null }
const nothing: BookedCost = { cost_usd: '0', cost_nano: 0, source: null, estimated: false }
