import { setTimeout as delay } from 'node:timers/promises'
import { type MaybePromise, whenThere } from '../../accounts/accounts.ts'
import type { HeaderNames } from '../../chat/chat.ts'
import { AppError, toAppError } from '../../errors.ts'
import type { Amounts, Cost, Place } from '../cost.ts'
import { usdOf } from '../money.ts'
import type { Grant, RateDesk } from './desk.ts'
import { type Budget, defaultWarn } from './documents.ts'
import type { Admission, Size, Subjects } from './limits.ts'
import type { PeriodKind, Periods } from './periods.ts'
import { budgetExceeded, overBudget, priceUnknown } from './refusals.ts'
import type { AskedBudget, CountedBudget, LimitStore, Reservation, Reserved, Spend } from './store.ts'
import type { SubjectLimits } from './subject-limits.ts'

/** The store, clocks and settings that admissions share. */
export interface Ground {
  readonly store: Pick<LimitStore, 'reserve' | 'extend'>
  /** Counts requests and their tokens. */
  readonly desk: RateDesk
  /** Milliseconds since 1970 by the wall clock: for periods. */
  readonly wall: () => number
  readonly periods: Periods
  /** The time zone of budgets that name none. */
  readonly zone: string
  readonly newId: () => string
  plugin(id: string): SubjectLimits | undefined
  /** Whether the provider of a place reports the cost of an answer. */
  readonly reportsCost: (place: Place) => boolean
  /** Writes booked attempts that wait for the storage: their reservations are given back then. */
  readonly flush: () => Promise<void>
  /** Whether other processes reserve in the same budgets, and write what has ended there as this one does. */
  readonly hasOthers: boolean
  /** Gives a reservation back, now or when the storage can be written again. */
  readonly cancel: (reservation: string) => void
  readonly warn: (line: string) => void
}

interface Owned {
  readonly owner: SubjectLimits
  readonly budget: Budget
}

/** Money that is reserved for the attempt under way. */
interface Held {
  readonly id: string
  nano: number
  readonly isHard: boolean
  readonly asked: readonly AskedBudget[]
  /** A hard budget has no more to add. */
  isLast: boolean
}

/** The least that is reserved where no price is known: a budget that is spent refuses it. */
const leastNano = 1

/**
 * Milliseconds before each further look at a budget that requests under way have reserved: another process settles what has
 * ended there within a fifth of a second and the time of the write, and the refused client is asked to wait for a second.
 */
const waitsForOthers = [100, 200, 300, 400] as const

/**
 * An admitted request, see `Admission`: a desk counts it against rates, and its budgets are reserved in the storage. Where the
 * desk must be waited for, a refusal comes at its first attempt.
 */
export class Admitted implements Admission {
  readonly #ground: Ground
  readonly #subjects: Subjects
  /** The subjects that count it, without the plugin. */
  readonly #counting: readonly SubjectLimits[]
  readonly #readSize: () => Size
  #size: Size | undefined
  /** Tokens that were counted for it, and those that it had in fact. */
  #reserved = 0
  #used = 0
  /** Where the desk must be waited for. */
  readonly #granting: Promise<unknown> | undefined
  #grant: Grant | undefined
  /** The attempt under way, where its plugin counts it. */
  #place: { readonly ticket: number; readonly tokens: number } | undefined
  #held: Held | undefined
  #nearest: { readonly owned: Owned; readonly spend: Spend } | undefined
  #isReleased = false

  /** Counts the request for its subjects; throws where one of them refuses it. */
  constructor(ground: Ground, subjects: Subjects, counting: readonly SubjectLimits[], size: () => Size) {
    this.#ground = ground
    this.#subjects = subjects
    this.#counting = counting
    this.#readSize = size
    const rated = counting.filter(({ isRated }) => isRated)
    if (rated.length === 0) return
    if (rated.some(({ isRatedByTokens }) => isRatedByTokens)) this.#reserved = this.#tokens()
    const taken = ground.desk.take(
      rated.map(({ subject }) => subject),
      this.#reserved,
    )
    const granted = whenThere(taken, (grant) => {
      this.#grant = grant
      if (this.#isReleased) ground.desk.end(grant.ticket, this.#used - this.#reserved)
    })
    if (!(granted instanceof Promise)) return
    this.#granting = granted
    granted.catch(() => undefined)
  }

  reserve(place: Place, read: (size: Size) => number | null): MaybePromise<string | undefined> {
    this.#endAttempt(undefined)
    const plugin = place.plugin === null ? undefined : this.#ground.plugin(place.plugin)
    const entered = this.#granting ? this.#granting.then(() => this.#enter(plugin)) : this.#enter(plugin)
    return whenThere(entered, () => this.#reserveBudgets(place, read, plugin))
  }

  exceeded(cost: () => number | null): AppError | undefined {
    const held = this.#held
    if (!held?.isHard) return undefined
    const nano = cost() ?? 0
    // The reservation is made longer a little before its end, so that a stream need not wait for the storage.
    if (nano <= held.nano * 0.9) return undefined
    if (!held.isLast) this.#extend(held, Math.ceil(nano / 2))
    return held.isLast && nano > held.nano ? budgetExceeded() : undefined
  }

  settle(amounts: Amounts | undefined, _cost: Cost | undefined): void {
    this.#endAttempt(amounts)
  }

  headers(names: HeaderNames = 'openai'): Readonly<Record<string, string>> {
    const nearest = this.#nearest
    const budget = nearest && { 'x-aichat-budget': budgetHeader(nearest.owned, nearest.spend) }
    return { ...this.#grant?.headers(names), ...budget }
  }

  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#endAttempt(undefined)
    if (this.#grant) this.#ground.desk.end(this.#grant.ticket, this.#used - this.#reserved)
  }

  #tokens(): number {
    this.#size ??= this.#readSize()
    return this.#size.input + this.#size.output
  }

  /** Counts the attempt for its plugin; throws where the plugin refuses it. */
  #enter(plugin: SubjectLimits | undefined): MaybePromise<void> {
    if (!plugin?.isRated) return undefined
    const tokens = plugin.isRatedByTokens ? this.#tokens() : 0
    return whenThere(this.#ground.desk.take([plugin.subject], tokens), ({ ticket }) => {
      this.#place = { ticket, tokens }
    })
  }

  #reserveBudgets(
    place: Place,
    read: (size: Size) => number | null,
    plugin: SubjectLimits | undefined,
  ): MaybePromise<string | undefined> {
    let budgets = plugin?.budgets.length ?? 0
    for (const each of this.#counting) budgets += each.budgets.length
    try {
      if (this.#isReleased) throw gone()
      if (budgets === 0) return undefined
      this.#tokens()
      const most = read(this.#size!)
      // A free attempt takes nothing from a budget.
      if (most === 0) return undefined
      if (most === null && !this.#ground.reportsCost(place)) throw priceUnknown(place.model)
      const reserved = this.#reserveMoney(place, most ?? leastNano, plugin)
      return reserved instanceof Promise ? reserved.catch((reason) => this.#refused(reason)) : reserved
    } catch (reason) {
      return this.#refused(reason)
    }
  }

  /** Ends the attempt: its estimates give way to its amounts, or to nothing. The ledger settles the money of a booked one. */
  #endAttempt(amounts: Amounts | undefined): void {
    const used = amounts ? amounts.input - (amounts.cached ?? 0) + amounts.output : 0
    this.#used += used
    const place = this.#place
    this.#place = undefined
    if (place) this.#ground.desk.end(place.ticket, used - place.tokens)
    const held = this.#held
    this.#held = undefined
    if (held && !amounts) this.#ground.cancel(held.id)
  }

  /** The attempt was not sent: the plugin did not get it. */
  #refused(reason: unknown): never {
    const place = this.#place
    this.#place = undefined
    if (place) this.#ground.desk.undo(place.ticket, place.tokens)
    const error = toAppError(reason)
    if (error.code !== 'io' && error.code !== 'internal') throw error
    throw new AppError('unavailable', `The budgets cannot be counted: ${error.message}`, {
      details: error.details,
      cause: reason,
    })
  }

  #reserveMoney(place: Place, nano: number, plugin: SubjectLimits | undefined): MaybePromise<string> {
    const ground = this.#ground
    const at = ground.wall()
    const owned = [...this.#counting, ...(plugin ? [plugin] : [])].flatMap((owner) =>
      owner.budgets.map((budget) => ({ owner, budget })),
    )
    const asked = owned.map(({ owner, budget }): AskedBudget => {
      const { timezone: zone = ground.zone, period, nano: limit, hard: isHard = false, warn = defaultWarn } = budget
      return { ...counted(ground, owner.subject, period, zone, at), limit, hard: isHard, warn }
    })
    const { input, output } = this.#size!
    const { user, key = null } = this.#subjects
    const id = ground.newId()
    const reservation: Reservation = { id, at, nano, user, key, ...place, input, output }
    const taken = (outcome: Reserved): string => {
      if (outcome.refused !== undefined) {
        const { owner, budget } = owned[outcome.refused]!
        const { nano: limit, period } = budget
        throw overBudget({ kind: owner.kind, limit, period, spend: outcome.spend, most: nano, now: at })
      }
      if (this.#isReleased) {
        ground.cancel(id)
        throw gone()
      }
      this.#held = { id, nano, isHard: asked.some(({ hard }) => hard), asked, isLast: false }
      this.#tell(owned, outcome.spends, outcome.warned)
      return id
    }
    const ask = (): MaybePromise<Reserved> => {
      const outcome = ground.store.reserve(reservation, asked)
      if (!(outcome instanceof Promise)) return outcome
      return outcome.catch((reason) => {
        // A database that went away may have reserved it before.
        ground.cancel(id)
        throw reason
      })
    }
    const isOnlyReserved = (outcome: Reserved) =>
      outcome.refused !== undefined && outcome.spend.spent + nano <= owned[outcome.refused]!.budget.nano
    // Attempts that have ended may be on their way to the ledger, which gives their reservations back.
    const settled = async (): Promise<string> => {
      await ground.flush().catch(() => undefined)
      let outcome = await ask()
      for (const wait of ground.hasOthers ? waitsForOthers : []) {
        if (this.#isReleased || !isOnlyReserved(outcome)) break
        await delay(wait)
        outcome = await ask()
      }
      return taken(outcome)
    }
    return whenThere(ask(), (outcome) => (isOnlyReserved(outcome) ? settled() : taken(outcome)))
  }

  /** Keeps the budget of which most is spent, beyond its warning, for the headers; writes a line for those that are new. */
  #tell(owned: readonly Owned[], spends: readonly Spend[], warned: readonly number[]): void {
    for (const [at, each] of owned.entries()) {
      const spend = spends[at]!
      const used = percent(each.budget, spend)
      if (used < (each.budget.warn ?? defaultWarn)) continue
      const nearest = this.#nearest
      if (!nearest || used > percent(nearest.owned.budget, nearest.spend)) this.#nearest = { owned: each, spend }
    }
    for (const at of warned) {
      const { owner, budget } = owned[at]!
      const spend = spends[at]!
      this.#ground.warn(
        `The budget of ${owner.subject} is at ${percent(budget, spend)} %: ${usdOf(spend.spent)} of ${usdOf(budget.nano)} USD a ${budget.period}`,
      )
    }
  }

  #extend(held: Held, nano: number): void {
    const extended = (isMore: boolean) => {
      if (isMore) held.nano += nano
      else held.isLast = true
    }
    // One at a time: until its outcome is known, the stream continues with the amount reserved before.
    held.isLast = true
    try {
      const outcome = this.#ground.store.extend(held.id, nano, held.asked)
      if (!(outcome instanceof Promise)) {
        held.isLast = false
        return extended(outcome)
      }
      outcome.then(
        (isMore) => {
          held.isLast = false
          extended(isMore)
        },
        () => undefined,
      )
    } catch {
      // A budget that cannot be counted has no more.
    }
  }
}

function gone(): AppError {
  return new AppError('unavailable', 'The caller went away')
}

/** A budget as the storage counts for it now. */
export function counted(
  { periods, zone: own }: Pick<Ground, 'periods' | 'zone'>,
  subject: string,
  period: PeriodKind,
  zone: string,
  at: number,
): CountedBudget {
  const { start, end, days } = periods(period, zone, at)
  return { subject, period, zone, start, end, ...(zone === own && { days }) }
}

/** Whole percent of a budget that is spent. */
function percent({ nano }: Budget, { spent }: Spend): number {
  return nano === 0 ? 100 : Math.floor((spent / nano) * 100)
}

/** A structured item (RFC 8941), such as `month;used=84;amount=20.00;scope=key`. */
function budgetHeader({ owner, budget }: Owned, spend: Spend): string {
  return `${budget.period};used=${percent(budget, spend)};amount=${usdOf(budget.nano)};scope=${owner.kind}`
}
