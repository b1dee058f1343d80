import type { PeriodKind } from './periods.ts'

/** The subject of a limit: an API key, a user, a plugin, or everybody together. */
export type SubjectKind = 'key' | 'user' | 'plugin' | 'all'

/** The limits of one subject, as they are kept. An absent field sets no limit. */
export interface LimitDocument {
  /** Requests a minute and a day; tokens likewise: output, and input less the part read from a cache. */
  readonly rpm?: number
  readonly rpd?: number
  readonly tpm?: number
  readonly tpd?: number
  /** Requests at the same time. */
  readonly parallel?: number
  readonly budgets?: readonly Budget[]
}

/** Money for a period. */
export interface Budget {
  /** Nano-USD; 0 lets nothing through that costs anything. */
  readonly nano: number
  readonly period: PeriodKind
  /** The IANA time zone of the calendar that counts; without one, the installation's. */
  readonly timezone?: string
  /** Cuts a stream that runs over it, where the answer would else end. */
  readonly hard?: boolean
  /** Percent from which on clients and the log are warned; 80 without one. */
  readonly warn?: number
}

/** Percent. */
export const defaultWarn = 80

/** The most subjects with limits, and budgets of one. */
export const mostSubjects = 50_000
export const mostBudgets = 8

/** `key:ID`, `user:ID`, `plugin:ID` or `all`. */
export function subjectOf(kind: SubjectKind, id: string): string {
  return kind === 'all' ? 'all' : `${kind}:${id}`
}

/** The kind and the id of such a text; undefined for any other. */
export function readSubject(text: string): { readonly kind: SubjectKind; readonly id: string } | undefined {
  if (text === 'all') return { kind: 'all', id: '' }
  const [, kind, id] = /^(key|user|plugin):(.{1,254})$/s.exec(text) ?? []
  return kind === undefined ? undefined : { kind: kind as SubjectKind, id: id! }
}
