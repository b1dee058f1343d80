/** The span of a window in slots, and a slot's length in milliseconds. */
export interface Span {
  readonly slots: number
  readonly slotMs: number
}

/**
 * A minute and a day, each with a slot more than it has: an event that is less than the span old is in one of them,
 * wherever in its slot it happened, so that no span of that length ever holds more than the limit. The price is that a
 * count is given back up to one slot late: a second of a minute, a quarter of an hour of a day.
 */
export const minute: Span = { slots: 61, slotMs: 1000 }
export const day: Span = { slots: 97, slotMs: 15 * 60_000 }

/** The counts of a window by the number of their slot, flat: slot, count, slot, count. */
export type SavedSlots = readonly number[]

/**
 * Counts the events of the last minute or day, in slots. `now` is milliseconds since 1970 by a clock that goes forward
 * alone; a time before the newest one counts as that. Counts are whole numbers.
 */
export class Window {
  limit: number
  readonly span: Span
  /** By slot number modulo their count; made with the first event. */
  #counts: Float64Array | undefined
  #newest = 0
  /** The newest slot in which something was counted. */
  #used = 0
  #sum = 0

  constructor(span: Span, limit: number) {
    this.span = span
    this.limit = limit
  }

  /** Milliseconds until so many more fit, if nothing else comes: 0 for at once, Infinity for more than the limit. */
  wait(count: number, now: number): number {
    this.#advance(now)
    const excess = this.#sum + count - this.limit
    if (excess <= 0) return 0
    if (count > this.limit) return Number.POSITIVE_INFINITY
    const { slots, slotMs } = this.span
    let freed = 0
    for (let slot = Math.max(0, this.#newest - slots + 1); slot <= this.#newest; slot++) {
      freed += this.#counts![slot % slots]!
      if (freed >= excess) return (slot + slots) * slotMs - Math.max(now, this.#newest * slotMs)
    }
    return Number.POSITIVE_INFINITY
  }

  /** Counts so many, whether they fit or not; gives back their slot. */
  take(count: number, now: number): number {
    this.#advance(now)
    this.#counts ??= new Float64Array(this.span.slots)
    this.#counts[this.#newest % this.span.slots]! += count
    this.#used = this.#newest
    this.#sum += count
    return this.#newest
  }

  /** Corrects a count of a slot. A decrease leaves a slot that is not over; an increase counts from now on. */
  correct(slot: number, change: number, now: number): void {
    if (change === 0) return
    if (change > 0) return void this.take(change, now)
    this.#advance(now)
    if (!this.#counts || slot > this.#newest || slot <= this.#newest - this.span.slots) return
    const at = slot % this.span.slots
    const given = Math.min(-change, this.#counts[at]!)
    this.#counts[at]! -= given
    this.#sum -= given
  }

  /** How many still fit. */
  remaining(now: number): number {
    this.#advance(now)
    return Math.max(0, this.limit - this.#sum)
  }

  /** Milliseconds until nothing is counted any more, if nothing else comes. */
  resetMs(now: number): number {
    this.#advance(now)
    if (this.#sum === 0) return 0
    return (this.#used + this.span.slots) * this.span.slotMs - Math.max(now, this.#newest * this.span.slotMs)
  }

  save(now: number): SavedSlots {
    this.#advance(now)
    const saved: number[] = []
    if (this.#sum === 0) return saved
    for (let slot = Math.max(0, this.#newest - this.span.slots + 1); slot <= this.#newest; slot++) {
      const count = this.#counts![slot % this.span.slots]!
      if (count > 0) saved.push(slot, count)
    }
    return saved
  }

  /** Adds saved counts. Slots of the future, after the clock was set back, count as events of this moment. */
  load(saved: SavedSlots, now: number): void {
    this.#advance(now)
    const { slots } = this.span
    for (let at = 0; at + 1 < saved.length; at += 2) {
      const slot = Math.min(saved[at]!, this.#newest)
      const count = saved[at + 1]!
      if (slot <= this.#newest - slots || !(count > 0)) continue
      this.#counts ??= new Float64Array(slots)
      this.#counts[slot % slots]! += count
      this.#used = Math.max(this.#used, slot)
      this.#sum += count
    }
  }

  #advance(now: number): void {
    const slot = Math.floor(now / this.span.slotMs)
    if (slot <= this.#newest) return
    const counts = this.#counts
    if (counts && this.#sum > 0) {
      const { slots } = this.span
      if (slot - this.#newest >= slots) {
        counts.fill(0)
        this.#sum = 0
      } else
        for (let over = this.#newest + 1; over <= slot; over++) {
          this.#sum -= counts[over % slots]!
          counts[over % slots] = 0
        }
    }
    this.#newest = slot
  }
}
