import type { MaybePromise } from '../../accounts/accounts.ts'
import type { HeaderNames } from '../../chat/chat.ts'
import { AppError } from '../../errors.ts'
import type { Amounts, Cost, Place } from '../cost.ts'
import { Admitted, type Ground } from './admission.ts'
import type { Grant, RateDesk } from './desk.ts'
import type { Admission, Size, Subjects } from './limits.ts'
import type { SubjectLimits } from './subject-limits.ts'

/**
 * A request that a desk counts against rates, see `RateDesk`; its budgets are reserved in the storage, as every process
 * does. A refusal comes at its first attempt, which waits for the desk.
 */
export class SharedAdmission implements Admission {
  readonly #desk: RateDesk
  readonly #ground: Ground
  readonly #budgets: Admitted
  readonly #readSize: () => Size
  #size: Size | undefined
  /** Where the desk must be waited for. */
  readonly #grant: Promise<Grant> | undefined
  #granted: Grant | undefined
  /** Tokens that were counted for it, and those that it had in fact. */
  #reserved = 0
  #used = 0
  #place: { readonly ticket: number; readonly tokens: number } | undefined
  #isReleased = false

  constructor(
    desk: RateDesk,
    ground: Ground,
    subjects: Subjects,
    counting: readonly SubjectLimits[],
    size: () => Size,
  ) {
    this.#desk = desk
    this.#ground = ground
    this.#readSize = () => {
      this.#size ??= size()
      return this.#size
    }
    this.#budgets = new Admitted(ground, subjects, counting, this.#readSize)
    const rated = counting.filter(({ isRated }) => isRated)
    if (rated.length === 0) return
    if (rated.some(({ isRatedByTokens }) => isRatedByTokens)) this.#reserved = this.#tokens()
    const grant = desk.take(
      rated.map(({ subject }) => subject),
      this.#reserved,
    )
    if (!(grant instanceof Promise)) {
      this.#granted = grant
      return
    }
    this.#grant = grant
    grant.then(
      (grant) => {
        this.#granted = grant
        if (this.#isReleased) desk.end(grant.ticket, this.#used - this.#reserved)
      },
      () => undefined,
    )
  }

  reserve(place: Place, most: (size: Size) => number | null): MaybePromise<string | undefined> {
    this.#endAttempt(undefined)
    const plugin = place.plugin === null ? undefined : this.#ground.plugin(place.plugin)
    if (!this.#grant && !plugin?.isRated) return this.#budgets.reserve(place, most)
    return this.#reserveWithDesk(place, most, plugin)
  }

  async #reserveWithDesk(
    place: Place,
    most: (size: Size) => number | null,
    plugin: SubjectLimits | undefined,
  ): Promise<string | undefined> {
    await this.#grant
    if (plugin?.isRated) {
      const tokens = plugin.isRatedByTokens ? this.#tokens() : 0
      const { ticket } = await this.#desk.take([plugin.subject], tokens)
      this.#place = { ticket, tokens }
    }
    try {
      if (this.#isReleased) throw new AppError('unavailable', 'The caller went away')
      return await this.#budgets.reserve(place, most)
    } catch (reason) {
      const counted = this.#place
      this.#place = undefined
      if (counted) this.#desk.undo(counted.ticket, counted.tokens)
      throw reason
    }
  }

  exceeded(cost: () => number | null): AppError | undefined {
    return this.#budgets.exceeded(cost)
  }

  settle(amounts: Amounts | undefined, cost: Cost | undefined): void {
    this.#budgets.settle(amounts, cost)
    this.#endAttempt(amounts)
  }

  headers(names: HeaderNames = 'openai'): Readonly<Record<string, string>> {
    return { ...this.#granted?.headers[names], ...this.#budgets.headers(names) }
  }

  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#endAttempt(undefined)
    this.#budgets.release()
    if (this.#granted) this.#desk.end(this.#granted.ticket, this.#used - this.#reserved)
  }

  #tokens(): number {
    const { input, output } = this.#readSize()
    return input + output
  }

  #endAttempt(amounts: Amounts | undefined): void {
    const used = amounts ? amounts.input - (amounts.cached ?? 0) + amounts.output : 0
    this.#used += used
    const place = this.#place
    if (!place) return
    this.#place = undefined
    this.#desk.end(place.ticket, used - place.tokens)
  }
}
