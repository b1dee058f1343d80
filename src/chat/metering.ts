import type { MaybePromise } from '../accounts/users.ts'
import type { ChatReply, ChatRequest, Usage } from './protocol/messages.ts'

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

/** The way an attempt ended. `broken`: the provider failed after content; `cancelled`: the caller left. */
export type Ending = 'answered' | 'failed' | 'broken' | 'cancelled'

/** What a finished attempt cost: a decimal text in USD, null where no price is known. */
export interface BookedCost {
  readonly cost_usd: string | null
  /** Where the price is from: reported, operator, refreshed, shipped, local; null without one. */
  readonly source: string | null
  /** True where tokens were counted by us, since the provider told none. */
  readonly estimated: boolean
}

/** Meters requests for limits and the ledger. It states what the chat area needs; src/usage implements it. */
export interface Metering {
  /**
   * Admits a request; throws `rate_limited` with the reason. `request` is read where a limit counts tokens, and where an
   * estimate must stand for counts that nobody told.
   */
  begin(payer: Payer, purpose: Purpose, request: () => MeteredRequest): MeteredCall
}

/** A request as far as counting needs it. */
export type MeteredRequest = Partial<ChatRequest> & Pick<ChatRequest, 'messages'>

export interface MeteredCall {
  /**
   * Reserves an attempt at a place: throws `rate_limited` when the plugin or a budget allows no more. The attempt must be
   * ended. At once where no budget must be asked in the storage.
   */
  attempt(place: MeteredPlace): MaybePromise<MeteredAttempt>
  /** Headers that tell a client its limits, in the dialects of OpenAI and Anthropic; undefined without a limit. */
  headers(): Readonly<Record<string, string>> | undefined
  /** Ends the request, once: also after a failure. */
  end(): void
}

export interface MeteredAttempt {
  /** Books a whole answer. */
  answered(reply: ChatReply): BookedCost
  /** Counts a piece of a streamed answer: bytes of text, thoughts and arguments. */
  delivered(bytes: number): void
  /** Takes the provider's counts, where it sends them before the end of a stream. */
  reported(usage: Usage, serviceTier?: unknown): void
  /** Books an attempt that ended otherwise, or a stream at its end. An attempt that failed before content costs nothing. */
  ended(ending: Ending): BookedCost
}
