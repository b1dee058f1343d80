import type { LimitDocument } from './documents.ts'
import { type CountedSubject, none, partOf, type Report, sum, type Use } from './shared-counts.ts'
import { type Counted, SubjectLimits, slotsAt } from './subject-limits.ts'

/** An instance that asks again within so long gets a lease: milliseconds. */
const busyMs = 1000

/** A part of the counts of all instances that was counted at one time; undefined before the storage knows of it. */
export interface Parcel {
  counted: Counted | undefined
}

/** What the storage has counted for this instance beyond its requests. */
interface Lease {
  requests: number
  tokens: number
  /** Requests at the same time. */
  places: number
  readonly parcel: Parcel
  /** The end of the slot in which it was counted, so that no later request counts as of then. */
  readonly until: number
}

/** What a question reports of a subject. */
export interface Sent extends Report {
  readonly parcels: ReadonlyMap<Parcel, Use>
}

/** One subject at an instance of several: what it knows of the counts, and what has not been reported to the storage yet. */
export class Holding {
  readonly subject: string
  /** The counts over all instances as they were reported last, with what was counted here since, without the lease. */
  limits: SubjectLimits
  /** Requests of this instance that are under way. */
  #running = 0
  #lease: Lease | undefined
  /** Changes that the storage does not know. */
  #changes = new Map<Parcel, Use>()
  /** What was counted without the storage since the last report. */
  #unknown: Parcel | undefined
  /** The places at the storage may be other ones. */
  #hasMoved = false
  /** What was counted from the lease since the last question, and when that was. */
  #used: Use = none
  #askedAt = Number.NEGATIVE_INFINITY

  constructor(subject: string, document: LimitDocument) {
    this.subject = subject
    this.limits = new SubjectLimits(subject, document)
  }

  /** Takes over a changed document. */
  update(document: LimitDocument): void {
    if (this.limits.document !== document) this.limits.change(document)
  }

  /** Whether the lease has what a request needs. */
  covers(tokens: number, now: number): boolean {
    const lease = this.#lease
    if (!lease || now >= lease.until) return false
    return (
      lease.requests >= 1 &&
      (!this.limits.countsTokens || lease.tokens >= tokens) &&
      (!this.#isParallel || lease.places >= 1)
    )
  }

  /** Counts a request in the lease. */
  take(tokens: number, at: number): Parcel {
    const lease = this.#lease!
    lease.requests--
    if (this.limits.countsTokens) lease.tokens -= tokens
    if (this.#isParallel) lease.places--
    this.limits.take(tokens, at)
    this.begin(tokens)
    return lease.parcel
  }

  /** Counts a request that is reported to the storage later. */
  takeUnknown(tokens: number, at: number): Parcel {
    this.#unknown ??= { counted: undefined }
    this.#note(this.#unknown, { requests: 1, tokens })
    this.#hasMoved = this.#isParallel
    this.limits.take(tokens, at)
    this.begin(tokens)
    return this.#unknown
  }

  /** A request runs that was counted. */
  begin(tokens: number): void {
    this.#running++
    this.#used = sum(this.#used, { requests: 1, tokens })
  }

  /** A request ends, with such a change of what was counted. */
  end(parcel: Parcel, change: Use, now: number, at: number): void {
    this.#running--
    this.limits.leave()
    this.#note(parcel, change)
    this.limits.adjust(parcel.counted ?? slotsAt(at), change.requests, change.tokens, at)
    if (!this.#isParallel) return
    const lease = this.#lease
    if (lease && now < lease.until && lease.places < partOf(this.limits.document.parallel!)) lease.places++
    else this.#hasMoved = true
  }

  /** Places that others may wait for are to be given back. */
  get hasMoved(): boolean {
    return this.#hasMoved
  }

  /** There is something to tell the storage. */
  get isDue(): boolean {
    return this.#hasMoved || this.#changes.size > 0
  }

  /** The end of its lease; undefined where it has none. */
  get leasedUntil(): number | undefined {
    return this.#lease?.until
  }

  /** Gives back what is left of the lease, with the next question: of one that is over by then. */
  giveBack(now = Number.POSITIVE_INFINITY): void {
    const lease = this.#lease
    if (!lease || now < lease.until) return
    this.#lease = undefined
    this.#note(lease.parcel, { requests: -lease.requests, tokens: -lease.tokens })
    if (lease.places > 0) this.#hasMoved = true
  }

  /** What a question tells the storage. One that asks for requests gives the lease back, and may bring another. */
  send(asking: Use | undefined, now: number): Sent {
    if (asking) this.giveBack()
    const { requests, tokens } = sum(this.#used, asking ?? none)
    const soon = asking && now - this.#askedAt < busyMs ? { requests: 2 * requests, tokens: 2 * tokens } : none
    const parcels = this.#changes
    this.#changes = new Map()
    this.#unknown = undefined
    this.#hasMoved = false
    if (asking) {
      this.#used = none
      this.#askedAt = now
    }
    return {
      document: this.limits.document,
      changes: [...parcels].map(([{ counted }, use]) => [counted, use]),
      places: this.#places,
      soon,
      parcels,
    }
  }

  /** Takes the answer: the counts of all instances, and a new lease where there is an extra. */
  receive(sent: Sent, { limits, extra }: CountedSubject, parcel: Parcel, at: number, until: number): void {
    for (const each of sent.parcels.keys()) each.counted ??= parcel.counted
    const lease = this.#lease
    // What was done since the question was sent.
    limits.run(this.#places - sent.places - (lease?.places ?? 0))
    if (lease) limits.adjust(lease.parcel.counted!, -lease.requests, -lease.tokens, at)
    for (const [each, use] of this.#changes) limits.adjust(each.counted ?? slotsAt(at), use.requests, use.tokens, at)
    const { document } = this.limits
    this.limits = limits
    this.update(document)
    if (extra.requests > 0) this.#lease = { ...extra, parcel, until }
  }

  /** Keeps what a question that failed was to report. */
  keep({ parcels }: Sent): void {
    for (const [parcel, use] of parcels) this.#note(parcel, use)
    this.#hasMoved = this.#isParallel
  }

  /** Notes a change for the storage, of what is limited. */
  #note(parcel: Parcel, { requests, tokens }: Use): void {
    const { rpm, rpd, countsTokens } = this.limits
    const use = { requests: (rpm ?? rpd) ? requests : 0, tokens: countsTokens ? tokens : 0 }
    if (use.requests !== 0 || use.tokens !== 0) this.#changes.set(parcel, sum(this.#changes.get(parcel) ?? none, use))
  }

  get #isParallel(): boolean {
    return this.limits.document.parallel !== undefined
  }

  get #places(): number {
    return this.#running + (this.#lease?.places ?? 0)
  }
}
