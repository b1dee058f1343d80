import type { MaybePromise } from '../accounts/accounts.ts'
import type { AppError } from '../errors.ts'
import type { ChatRequest, ExtraContent, Usage } from './protocol/messages.ts'
import type { UsageSoFar } from './protocol/usage-so-far.ts'

/** The user, and the API key where one was used, to whom a request is booked. Ids. */
export interface Payer {
  readonly user: string
  readonly key?: string | undefined
}

/** The use behind an attempt, for the ledger. `persona` is a call that a persona makes on its own account. */
export type Purpose = 'chat' | 'embeddings' | 'speech' | 'persona' | 'plugin_test'

/** The place of an attempt: a plugin with one of its models, or a local runner's model (`plugin` null). */
export interface MeteredPlace {
  readonly plugin: string | null
  readonly model: string
}

/** How an attempt ended. `broken`: the provider failed after content; `cancelled`: the caller left; `unsent`: free. */
export type Ending = 'answered' | 'failed' | 'broken' | 'cancelled' | 'unsent'

/** The API that the headers with a client's limits are named after. */
export type HeaderNames = 'openai' | 'anthropic'

/** A place that may not be asked, while another one may: its plugin's limit is reached, or its price is unknown. */
export class PlaceRefused extends Error {
  override readonly name = 'PlaceRefused'
  readonly reason: AppError

  constructor(reason: AppError) {
    super(reason.message)
    this.reason = reason
  }
}

/** The counts of an answer: of a whole one, or of the chunk of a stream that has them. */
export interface Reported {
  readonly usage?: Usage | null | undefined
  readonly service_tier?: unknown
  readonly extra_content?: ExtraContent | undefined
  /** Characters that were spoken. */
  readonly characters?: number | undefined
}

/** The cost of a finished attempt: a decimal text in USD, null where no price is known. */
export interface BookedCost {
  readonly cost_usd: string | null
  /** The same in 10^-9 USD. */
  readonly cost_nano: number | null
  /** Where the price is from: reported, operator, refreshed, shipped, local; null without one. */
  readonly source: 'reported' | 'operator' | 'refreshed' | 'shipped' | 'local' | null
  /** True where tokens were counted by us, since the provider reported none. */
  readonly estimated: boolean
  /** Tokens of the request and of the answer. */
  readonly tokens?: { readonly input: number; readonly output: number }
}

/** Meters requests for limits and the ledger: the port of the chat area, which src/usage implements. */
export interface Metering {
  /** Admits a request, or throws `rate_limited`. Reads `request` where tokens are limited or must be estimated. */
  begin(payer: Payer, purpose: Purpose, request: () => MeteredRequest): MeteredCall
}

/** A request as far as counting needs it. */
export type MeteredRequest = Partial<ChatRequest> & Pick<ChatRequest, 'messages'>

export interface MeteredCall {
  /**
   * Reserves an attempt at a place. Throws `rate_limited` when the caller's budget allows no more, and `PlaceRefused` where
   * another place may be asked. The attempt must be ended. At once where no budget must be asked in the storage. `fitted` is
   * the request that this place is sent, where parts of it are left out.
   */
  attempt(place: MeteredPlace, fitted?: MeteredRequest): MaybePromise<MeteredAttempt>
  /** Headers that tell a client its limits, in the dialects of OpenAI and Anthropic; undefined without a limit. */
  headers(names?: HeaderNames): Readonly<Record<string, string>> | undefined
  /** Ends the request, once: also after a failure. */
  end(): void
}

export interface MeteredAttempt {
  /** Counts the tokens of a piece of an answer, as `AnswerTokens` gives them. Throws where a hard budget is spent by it. */
  delivered(tokens: number): void
  /** Takes the provider's counts; the last of each holds. */
  reported(counts: Reported): void
  /** Takes counts of an answer under way, which hold only where it breaks off. */
  reportedSoFar(counts: UsageSoFar): void
  /**
   * Books the attempt; before the answer's end is sent, so that no finished answer goes unbooked. One that failed before
   * content costs nothing. Once: later calls change nothing. `reason` says why it failed in one of few ways, such as
   * `overloaded 503`: never in the words of a provider.
   */
  ended(ending: Ending, reason?: string): BookedCost
  /** Books an answered attempt, with others of this turn. Answer once `noted` resolves; it never rejects. */
  answered(): { readonly cost: BookedCost; readonly noted: Promise<void> }
}
