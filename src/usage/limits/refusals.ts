import { AppError } from '../../errors.ts'
import { counted, waitText } from '../../formats/formats.ts'
import { usdOf } from '../money.ts'
import type { SubjectKind } from './documents.ts'
import type { Spend } from './store.ts'

/** Seconds: a client that waits longer than this for a retry hangs. */
const longestWait = 60

/** A refusal by a limit. `ofPlace`: the limit of a plugin, beside which another place may be asked. */
export class LimitRefusal extends AppError {
  readonly ofPlace: boolean

  constructor(kind: SubjectKind, message: string, options: ConstructorParameters<typeof AppError>[2]) {
    super('rate_limited', message, options)
    this.ofPlace = kind === 'plugin'
  }
}

/** A refusal on its way to another process of the service. */
export type SentRefusal = Pick<
  LimitRefusal,
  'message' | 'details' | 'retryAfter' | 'provider' | 'final' | 'headers' | 'ofPlace'
>

/** A refusal as a message between the processes of a service. */
export function sentRefusal(refusal: LimitRefusal): SentRefusal {
  const { message, details, retryAfter, provider, final, headers, ofPlace } = refusal
  return { message, details, retryAfter, provider, final, headers, ofPlace }
}

/** The refusal that another process sent. */
export function refusalOf({ message, ofPlace, retryAfter, provider, ...rest }: SentRefusal): LimitRefusal {
  return new LimitRefusal(ofPlace ? 'plugin' : 'all', message, {
    ...rest,
    ...(retryAfter !== undefined && { retryAfter }),
    ...(provider && { provider }),
  })
}

/** Whether a failure concerns a place alone: its plugin's limit, or its price. */
export function isOfPlace(reason: unknown): reason is AppError {
  if (reason instanceof LimitRefusal) return reason.ofPlace
  return reason instanceof AppError && reason.provider?.code === unknownPrice
}

const unknownPrice = 'price_unknown'

/** The words for the subject of a limit, which tell a client no id but that of a plugin. */
const owners: Readonly<Record<SubjectKind, string>> = {
  key: 'this API key',
  user: 'this user',
  plugin: 'the plugin',
  all: 'this installation',
}

export interface RateRefusal {
  readonly kind: SubjectKind
  readonly what: 'requests' | 'tokens'
  readonly limit: number
  readonly span: 'minute' | 'day'
  /** Milliseconds until the same request passes; Infinity where it is larger than the limit. */
  readonly wait: number
  /** The size of the request: tokens. */
  readonly size: number
  readonly headers: Readonly<Record<string, string>>
}

/** Too many requests or tokens a minute or a day, with the names that OpenAI's clients know. */
export function tooFast({ kind, what, limit, span, wait, size, headers }: RateRefusal): LimitRefusal {
  const provider = { type: what, code: 'rate_limit_exceeded' }
  const rate = `${counted(limit, what.slice(0, -1))} a ${span}`
  if (wait === Number.POSITIVE_INFINITY)
    return new LimitRefusal(kind, `The request is larger than ${owners[kind]} may send: ${rate}`, {
      details: [`It may take ${counted(size, 'token')}; send less text, or a lower max_tokens`],
      provider,
      final: true,
      headers,
    })
  const retryAfter = Math.max(1, Math.ceil(wait / 1000))
  return new LimitRefusal(kind, `The limit of ${owners[kind]} is reached: ${rate}`, {
    details: [`Try again in ${waitText(retryAfter)}`],
    provider,
    retryAfter,
    final: retryAfter > longestWait,
    headers,
  })
}

/** Too many requests at the same time. When one of them ends is not known. */
export function tooMany(kind: SubjectKind, limit: number, headers: Readonly<Record<string, string>>): LimitRefusal {
  return new LimitRefusal(kind, `The limit of ${owners[kind]} is reached: ${counted(limit, 'request')} at a time`, {
    details: ['Try again when one of them has ended'],
    provider: { type: 'requests', code: 'rate_limit_exceeded' },
    retryAfter: 1,
    headers,
  })
}

export interface BudgetRefusal {
  readonly kind: SubjectKind
  readonly limit: number
  readonly period: 'day' | 'week' | 'month'
  readonly spend: Spend
  /** The most that the attempt can cost: nano-USD. */
  readonly most: number
  /** Milliseconds since 1970. */
  readonly now: number
}

/**
 * A budget that has not so much left. Where only requests under way hold it, the same may pass in a moment; else when the
 * next period begins, and never where the attempt costs more than the whole budget.
 */
export function overBudget({ kind, limit, period, spend, most, now }: BudgetRefusal): LimitRefusal {
  const provider = { type: 'insufficient_quota', code: 'insufficient_quota' }
  const budget = `${usdOf(limit)} USD a ${period}`
  if (spend.spent + most <= limit)
    return new LimitRefusal(kind, `Requests under way have reserved the budget of ${owners[kind]}: ${budget}`, {
      details: ['Try again when one of them has ended'],
      provider: { type: 'requests', code: 'rate_limit_exceeded' },
      retryAfter: 1,
    })
  if (most > limit && limit > 0)
    return new LimitRefusal(kind, `The request may cost more than the budget of ${owners[kind]}: ${budget}`, {
      details: [`It may cost ${usdOf(most)} USD; send less text, or a lower max_tokens`],
      provider,
      final: true,
    })
  const left = Math.max(0, limit - spend.spent)
  const retryAfter = Math.max(1, Math.ceil((spend.end - now) / 1000))
  return new LimitRefusal(kind, `The budget of ${owners[kind]} is spent: ${budget}`, {
    details: [
      ...(left > 0 ? [`${usdOf(left)} USD are left, and the request may cost ${usdOf(most)} USD`] : []),
      limit > 0
        ? `The next ${period} begins at ${new Date(spend.end).toISOString().replace('.000Z', 'Z')}`
        : 'Nothing may be spent',
    ],
    provider,
    ...(limit > 0 && { retryAfter }),
    final: true,
  })
}

/** A stream that has run over a hard budget. */
export function budgetExceeded(): AppError {
  return new AppError('rate_limited', 'The budget ran out during the answer', {
    provider: { type: 'insufficient_quota', code: 'budget_exceeded' },
    final: true,
  })
}

/** A place without a price, under a budget. */
export function priceUnknown(model: string): AppError {
  return new AppError('configuration', `The price of ${model} is not known, and a budget pays for it`, {
    details: ['Set it: aichat prices set', 'or name a model whose price is known'],
    provider: { type: 'insufficient_quota', code: unknownPrice },
  })
}
