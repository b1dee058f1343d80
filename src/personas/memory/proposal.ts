import type { Scope } from './memory.ts'

/** A fact that the persona's model proposes from a turn; no memory until it is accepted. */
export interface Proposal {
  readonly id: string
  readonly content: string
  /** The model's own estimate that the source states it, from 0 to 1. */
  readonly confidence: number
  /** The model that proposed it. */
  readonly model: string
  /** The id of the memory with the words that it is taken from; it goes with that memory. */
  readonly memory_id: string
  readonly status: ProposalStatus
  /** The id of the memory that it became. */
  readonly accepted_as?: string
  /** Milliseconds since 1970 UTC. */
  readonly created_at: number
}

/** Decided ones are kept for a while, so that the same fact is not proposed again. */
export type ProposalStatus = 'open' | 'accepted' | 'rejected'

export type NewProposal = Pick<Proposal, 'id' | 'content' | 'confidence' | 'model' | 'memory_id' | 'created_at'>

/** The most proposals of a persona; beyond, decided ones go first, and then the oldest. */
export const mostProposals = 500

/** Milliseconds after which a proposal is open again if its acceptance was begun and never ended. */
export const claimMs = 60_000

/** Stores proposals. All of them go with the memory that they are taken from. */
export interface ProposalStore {
  /**
   * Adds proposals, but for those with a known text (in any case), decided ones too, and those without their source;
   * removes those beyond `most`. Resolves with the ids of those that were added and kept.
   */
  add(scope: Scope, proposals: readonly NewProposal[], most: number): Promise<readonly string[]>
  /** Newest first; `now` decides which begun acceptances are open again. */
  list(
    scope: Scope,
    options: { readonly status: ProposalStatus; readonly limit: number; readonly offset: number; readonly now: number },
  ): Promise<{ readonly proposals: readonly Proposal[]; readonly total: number }>
  find(scope: Scope, id: string, now: number): Promise<Proposal | undefined>
  /** Begins to accept an open proposal; true for one caller alone, until `claimMs` have gone by or it is settled. */
  claim(scope: Scope, id: string, now: number): Promise<boolean>
  /** Ends an acceptance that was begun: with the memory that it became, or without one it is open again. */
  settle(scope: Scope, id: string, acceptedAs: string | undefined): Promise<void>
  /** Rejects an open proposal; false where it is none. */
  reject(scope: Scope, id: string, now: number): Promise<boolean>
}
