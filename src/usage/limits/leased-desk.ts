import type { MaybePromise } from '../../accounts/accounts.ts'
import { AppError } from '../../errors.ts'
import type { Grant, RateDesk } from './desk.ts'
import type { LimitDocument } from './documents.ts'
import { Holding, type Parcel, type Sent } from './holding.ts'
import type { LimitRefusal } from './refusals.ts'
import { type Asking, type Counting, countShared, none, sum, type Use } from './shared-counts.ts'
import type { LimitStore } from './store.ts'
import { headersOf, refusalBy } from './subject-limits.ts'
import { minute } from './windows.ts'

/**
 * The desk of an instance that shares its limits with others, by a database. A request that a lease covers is counted here
 * at once; for any other the storage is asked, for all that have come meanwhile together. What the storage counted too much
 * is given back with the next question, or a moment later.
 */
export interface LeasedDesk extends RateDesk {
  /** Reports to the storage now what is due. */
  settle(): Promise<void>
  /** The same, and gives all leases back. */
  close(): Promise<void>
}

export interface LeasedDeskParts {
  readonly store: Pick<LimitStore, 'share' | 'dropEnded'>
  /** The limits of a subject. */
  find(subject: string): LimitDocument | undefined
  /** Takes over changed limits. */
  look(): void
  /** Milliseconds, forward alone. */
  readonly now: () => number
  /** Whether the storage is known to be away. */
  readonly isAway: () => boolean
  /** Whether requests that the storage cannot count now go on by what is known of the counts. */
  readonly goesOn: () => boolean
}

/** What requests had less than was counted is given back so soon: milliseconds. */
const returnMs = 100

/** Without the storage it is tried again so soon: milliseconds. */
const retryMs = 1000

/** Where requests at the same time are refused, ended processes are looked for so often: milliseconds. */
const endedMs = 1000

interface Waiting extends Asking {
  resolve(grant: Grant): void
  reject(reason: unknown): void
}

/** Where a request was counted. */
type Places = readonly (readonly [Holding, Parcel])[]

export function createLeasedDesk(parts: LeasedDeskParts): LeasedDesk {
  const { store, now } = parts
  const holdings = new Map<string, Holding>()
  /** Those with a lease, and those with something to tell. */
  const leasing = new Set<Holding>()
  const due = new Set<Holding>()
  const running = new Map<number, Places>()
  let waiting: Waiting[] = []
  let last = 0
  let asking: Promise<void> | undefined
  let isClosed = false
  /** The last question was not answered. */
  let hasFailed = false
  let timer: NodeJS.Timeout | undefined
  let wakesAt = Number.POSITIVE_INFINITY
  /** From this machine's clock to the database's. */
  let ahead = 0
  let droppedAt = Number.NEGATIVE_INFINITY

  return {
    take(names, tokens): MaybePromise<Grant> {
      parts.look()
      const leased = fromLeases(names, tokens)
      if (leased) return leased
      return new Promise((resolve, reject) => {
        const request = { subjects: names, tokens, resolve, reject }
        if (parts.isAway()) return countAlone(request, undefined)
        waiting.push(request)
        pump()
      })
    },
    end: (ticket, tokens) => end(ticket, { requests: 0, tokens }),
    undo: (ticket, tokens) => end(ticket, { requests: -1, tokens: -tokens }),
    settle,
    async close() {
      isClosed = true
      clearTimeout(timer)
      await asking
      for (const each of leasing) each.giveBack()
      await settle()
    },
  }

  async function settle(): Promise<void> {
    await asking
    pump()
    await asking
  }

  function holdingOf(subject: string): Holding | undefined {
    const document = parts.find(subject)
    let found = holdings.get(subject)
    // A limit that was removed meanwhile counts nothing.
    if (!document) {
      if (found) for (const set of [leasing, due]) set.delete(found)
      holdings.delete(subject)
      return undefined
    }
    if (found) found.update(document)
    else {
      found = new Holding(subject, document)
      holdings.set(subject, found)
    }
    return found
  }

  /** Counts a request in the leases of its subjects; undefined where one of them lacks what it needs. */
  function fromLeases(names: readonly string[], tokens: number): Grant | undefined {
    const subjects = names.flatMap((name) => holdingOf(name) ?? [])
    if (!subjects.every((each) => each.covers(tokens, now()))) return undefined
    return grant(subjects.map((each) => [each, each.take(tokens, time())]))
  }

  /** The time by the database's clock, as far as it is known. */
  function time(): number {
    return now() + ahead
  }

  function grant(counted: Places): Grant {
    const headers = headersOf(
      counted.map(([{ limits }]) => limits),
      time(),
    )
    return granted(counted, headers)
  }

  function granted(counted: Places, headers: Grant['headers']): Grant {
    const ticket = ++last
    running.set(ticket, counted)
    return { ticket, headers }
  }

  function end(ticket: number, change: { readonly requests: number; readonly tokens: number }): void {
    const found = running.get(ticket)
    running.delete(ticket)
    for (const [each, parcel] of found ?? []) {
      each.end(parcel, change, now(), time())
      if (!each.isDue || holdings.get(each.subject) !== each) continue
      due.add(each)
      wake(each.hasMoved ? 0 : returnMs)
    }
  }

  function wake(ms: number): void {
    const at = now() + ms
    if (isClosed || at >= wakesAt) return
    clearTimeout(timer)
    wakesAt = at
    timer = setTimeout(() => {
      wakesAt = Number.POSITIVE_INFINITY
      pump()
    }, ms)
    timer.unref()
  }

  /** Asks the storage, one question at a time, until no request waits. */
  function pump(): void {
    asking ??= (async () => {
      do {
        await ask()
        // Those that came meanwhile are counted in the leases that the answer brought, as far as these reach.
        waiting = waiting.filter(({ subjects, tokens, resolve }) => {
          const leased = fromLeases(subjects, tokens)
          if (leased) resolve(leased)
          return !leased
        })
      } while (waiting.length > 0)
      asking = undefined
      if (due.size > 0) wake(hasFailed ? retryMs : [...due].some(({ hasMoved }) => hasMoved) ? 0 : returnMs)
      for (const { leasedUntil } of leasing) wake(leasedUntil! - now())
    })()
  }

  async function ask(): Promise<void> {
    const requests = waiting
    waiting = []
    for (const each of leasing) {
      each.giveBack(now())
      if (each.isDue) due.add(each)
      if (each.leasedUntil === undefined) leasing.delete(each)
    }
    const asked = new Map<string, Use>()
    for (const { subjects, tokens } of requests)
      for (const subject of subjects) asked.set(subject, sum(asked.get(subject) ?? none, { requests: 1, tokens }))
    const reports = new Map<string, Sent>()
    const sentAt = now()
    for (const subject of new Set([...asked.keys(), ...[...due].map((each) => each.subject)])) {
      const holding = holdingOf(subject)
      if (holding) reports.set(subject, holding.send(asked.get(subject), sentAt))
    }
    due.clear()
    if (reports.size === 0 && requests.length === 0) return
    let counting: Counting
    try {
      hasFailed = false
      counting = await store.share([...reports.keys()], (stored, at) => countShared(reports, requests, stored, at))
    } catch (reason) {
      hasFailed = true
      for (const [subject, sent] of reports) {
        const holding = holdings.get(subject)
        holding?.keep(sent)
        if (holding?.isDue) due.add(holding)
      }
      for (const request of requests) countAlone(request, reason)
      return
    }
    await receive(requests, reports, counting, sentAt)
  }

  async function receive(
    requests: readonly Waiting[],
    reports: ReadonlyMap<string, Sent>,
    { answers, subjects, counted, at }: Counting,
    sentAt: number,
  ): Promise<void> {
    ahead = at - now()
    const parcel: Parcel = { counted }
    const until = sentAt + minute.slotMs - (at % minute.slotMs)
    for (const [subject, state] of subjects) {
      const holding = holdings.get(subject)
      holding?.receive(reports.get(subject)!, state, parcel, at, until)
      if (holding?.leasedUntil !== undefined) leasing.add(holding)
    }
    const full: (readonly [Waiting, LimitRefusal])[] = []
    for (const [index, request] of requests.entries()) {
      const answer = answers[index]!
      if ('headers' in answer) {
        const counting = request.subjects.flatMap((subject) =>
          subjects.has(subject) ? (holdings.get(subject) ?? []) : [],
        )
        for (const each of counting) each.begin(request.tokens)
        const places = counting.map((each) => [each, parcel] as const)
        request.resolve(granted(places, answer.headers))
      } else if (answer.isFull) full.push([request, answer.refusal])
      else request.reject(answer.refusal)
    }
    if (full.length === 0) return
    if (await dropEnded(full.flatMap(([{ subjects }]) => subjects)))
      waiting.unshift(...full.map(([request]) => request))
    else for (const [request, refusal] of full) request.reject(refusal)
  }

  /** Drops the requests of processes that ended; false where there are none, or they were looked for a moment ago. */
  async function dropEnded(subjects: readonly string[]): Promise<boolean> {
    if (now() - droppedAt < endedMs) return false
    droppedAt = now()
    return store.dropEnded(subjects).catch(() => false)
  }

  /** Counts a request by what is known, and tells the storage later; without a reason, the storage is known to be away. */
  function countAlone({ subjects, tokens, resolve, reject }: Waiting, reason: unknown): void {
    const isAway = reason === undefined || (reason instanceof AppError && passing.has(reason.code))
    if (!isAway || !parts.goesOn()) return reject(isAway ? unavailable(reason) : reason)
    const counting = subjects.flatMap((subject) => holdingOf(subject) ?? [])
    const known = counting.map(({ limits }) => limits)
    const at = time()
    if (!known.every((limits) => limits.fits(tokens, at))) return reject(refusalBy(known, tokens, at))
    resolve(grant(counting.map((each) => [each, each.takeUnknown(tokens, at)])))
    for (const each of counting) if (each.isDue) due.add(each)
    wake(retryMs)
  }
}

/** Failures of a storage that is away, or busy for longer than a request waits. */
const passing: ReadonlySet<string> = new Set(['unavailable', 'busy', 'timeout', 'io'])

function unavailable(reason: AppError | undefined): AppError {
  if (reason?.code === 'unavailable') return reason
  const why = reason ? `: ${reason.message}` : ''
  return new AppError('unavailable', `The requests cannot be counted now${why}`, { retryAfter: 2, cause: reason })
}
