import type { MaybePromise } from '../../accounts/accounts.ts'
import type { LimitChange, LimitDocument } from './documents.ts'
import type { PeriodKind } from './periods.ts'
import type { SavedSlots } from './windows.ts'

/** Documents that changed; null for one that was removed. */
export interface LimitChanges {
  /** Grows with every change of a document in any process. */
  readonly revision: number
  readonly changed: readonly (readonly [subject: string, document: LimitDocument | null])[]
}

/** A budget as the storage counts for it. */
export interface CountedBudget {
  readonly subject: string
  readonly period: PeriodKind
  readonly zone: string
  /** The period by the clock: milliseconds since 1970. */
  readonly start: number
  readonly end: number
  /** The ledger's days that are the period, where they are of the same zone: first and last, such as `2026-11-30`. */
  readonly days?: { readonly first: string; readonly last: string } | undefined
}

export interface AskedBudget extends CountedBudget {
  readonly limit: number
  readonly hard: boolean
  /** Percent of the limit. */
  readonly warn: number
}

/** The account of a budget in its period: nano-USD. */
export interface Spend {
  /** The start and the end of the period that is counted: it stays where the clock was set back a little. */
  readonly start: number
  readonly end: number
  /** Costs of the ledger's rows, less their sum at the last reset. */
  readonly spent: number
  readonly reserved: number
}

export interface Reservation {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly nano: number
  readonly user: string
  readonly key: string | null
  readonly plugin: string | null
  readonly model: string
  /** Tokens. */
  readonly input: number
  readonly output: number
}

/** The answer to a reservation. Where one budget refuses, nothing is reserved. */
export type Reserved =
  | { readonly refused: number; readonly spend: Spend }
  | {
      readonly refused: undefined
      /** By budget, with this reservation. */
      readonly spends: readonly Spend[]
      /** Budgets with a warning due: the first time in their period, in all processes. */
      readonly warned: readonly number[]
    }

/** A reservation of a process that ended before it booked the attempt. */
export interface Orphan extends Reservation {
  readonly process: string
}

export type WindowName = 'rpm' | 'rpd' | 'tpm' | 'tpd'

/** A subject's window, as it was last saved. */
export interface SavedWindow {
  readonly subject: string
  readonly name: WindowName
  readonly slots: SavedSlots
}

/** What all instances together have counted for a subject. */
export interface SharedCounts {
  readonly windows: Readonly<Partial<Record<WindowName, SavedSlots>>>
  /** Requests at the same time at the other instances. */
  readonly elsewhere: number
}

/** What an instance makes of it. */
export interface ChangedCounts {
  readonly windows: SharedCounts['windows']
  /** Requests at the same time at this one. */
  readonly here: number
}

/**
 * Keeps limits, and counts money exactly, also across processes. `spent` of a budget is the sum of the ledger's rows in its
 * period: counted up with each row that the ledger adds, in the same transaction, from that sum on which the ledger holds
 * when the budget is first asked in a period. Settling is the ledger's: see its store.
 */
export interface LimitStore {
  /** The documents that changed after a revision, 0 for all. At once where the database is on this machine. */
  changes(after: number): MaybePromise<LimitChanges>
  /** Sets the document of a subject; `invalid` beyond `mostSubjects`. */
  set(subject: string, document: LimitDocument): Promise<void>
  /**
   * Changes the document that the subject has at the moment of the write, by `changedLimits`, or an empty one; changes at
   * once follow each other. Resolves with the document as it is then, and removes an empty one as `remove` does; `invalid` as
   * there, and beyond `mostSubjects`.
   */
  change(subject: string, change: LimitChange): Promise<LimitDocument>
  /** Removes it with its saved windows; false when there is none. The money spent stays known. */
  remove(subject: string): Promise<boolean>
  /** Reserves an attempt in all budgets or in none. */
  reserve(reservation: Reservation, budgets: readonly AskedBudget[]): MaybePromise<Reserved>
  /** Adds to a reservation in those budgets; false, and nothing is added, where a hard one of them has not so much. */
  extend(id: string, nano: number, budgets: readonly AskedBudget[]): MaybePromise<boolean>
  /** Gives the reservation of an attempt without cost back. One that is settled already changes nothing. */
  cancel(id: string): MaybePromise<void>
  spends(budgets: readonly CountedBudget[]): Promise<readonly Spend[]>
  /** Begins the accounts again at nothing spent, in periods that stay; reservations stay. */
  reset(budgets: readonly CountedBudget[]): Promise<void>
  /** The reservations of processes that have ended. */
  orphans(): Promise<readonly Orphan[]>
  /** The windows as they were last saved, or counted over all instances. */
  windows(): Promise<readonly SavedWindow[]>
  /** Replaces the saved windows of the subjects named, but of those without limits by now. */
  saveWindows(subjects: readonly string[], windows: readonly SavedWindow[]): Promise<void>
  /**
   * Changes what all instances have counted for subjects, one instance after the other. `change` gets the counts of those that
   * have limits, and the time by the clock of the database, since slots must agree: milliseconds since 1970. It gives back
   * those to write; it may be called again, and then the first call counts for nothing. Each store that is opened is an
   * instance.
   */
  share<R>(
    subjects: readonly string[],
    change: (
      counts: ReadonlyMap<string, SharedCounts>,
      at: number,
    ) => { readonly counts: ReadonlyMap<string, ChangedCounts>; readonly result: R },
  ): MaybePromise<R>
  /** Ends the requests that processes had under way for these subjects at their end; false where there are none. */
  dropEnded(subjects: readonly string[]): Promise<boolean>
}
