import { AppError } from '../../errors.ts'
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

type Nullable<Fields> = { readonly [Name in keyof Fields]: Fields[Name] | null }

/** A change of the limits of one subject: null takes a limit away, and what it does not name stays. */
export interface LimitChange extends Nullable<Omit<LimitDocument, 'budgets'>> {
  /** In the place of all budgets; an empty list takes them away. */
  readonly budgets?: readonly Budget[]
  /** For each budget that there is then. */
  readonly ofBudgets?: Pick<Budget, 'timezone' | 'hard' | 'warn'>
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

/**
 * The limits of a subject after a change, none where it took the last away. Throws `invalid` where nothing is limited before
 * and after, where there is no budget for `ofBudgets`, and where two budgets would be for one period.
 */
export function changedLimits(
  before: LimitDocument,
  { budgets: named = before.budgets ?? [], ofBudgets, ...changes }: LimitChange,
): LimitDocument {
  const { budgets: _, ...rates } = before
  if (ofBudgets && named.length === 0)
    throw new AppError('invalid', 'There is no budget to change', { details: ['Name budgets with their fields'] })
  const budgets = named.map((budget) => ({ ...budget, ...ofBudgets }))
  if (hasTwins(budgets))
    throw new AppError('invalid', 'Two budgets would be for one period', { details: ['Name all budgets'] })
  const kept = Object.entries({ ...rates, ...changes }).filter(([, limit]) => limit !== null)
  const after: LimitDocument = { ...Object.fromEntries(kept), ...(budgets.length > 0 && { budgets }) }
  return isNone(before) ? requireLimits(after) : after
}

/** Whether two of the budgets are for the same period of one time zone. */
export function hasTwins(budgets: readonly Pick<Budget, 'period' | 'timezone'>[]): boolean {
  return new Set(budgets.map(({ period, timezone }) => `${period} ${timezone}`)).size < budgets.length
}

/** Whether nothing is limited. */
export function isNone(document: LimitDocument): boolean {
  return Object.keys(document).length === 0
}

/** The same limits. Throws `invalid` where there are none. */
export function requireLimits(document: LimitDocument): LimitDocument {
  if (!isNone(document)) return document
  throw new AppError('invalid', 'Nothing is limited', {
    details: ['Name one of rpm, rpd, tpm, tpd, parallel and budgets', 'or remove the limits'],
  })
}
