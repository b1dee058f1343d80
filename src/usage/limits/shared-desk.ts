import { AppError } from '../../errors.ts'
import type { Grant } from './desk.ts'
import type { LimitDocument } from './documents.ts'
import type { LimitRefusal } from './refusals.ts'
import { type Asking, type Counting, countShared, type Moment, type Report, type Use } from './shared-counts.ts'
import type { LimitStore } from './store.ts'
import { headersOf, refusalBy, SubjectLimits, slotsAt } from './subject-limits.ts'

/**
 * The desk of an instance that shares its limits with others, by a database. The storage is asked for all requests that have
 * come meanwhile together. What they had less than was counted is given back with the next question, or a moment later.
 */
export type SharedDesk = ReturnType<typeof createSharedDesk>

export interface SharedDeskParts {
  readonly store: Pick<LimitStore, 'share' | 'dropEnded'>
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

/** What this instance knows of a subject, and what it has not reported to the storage yet. */
interface Known {
  readonly subject: string
  /** The counts over all instances as they were reported last, with what was counted here since. */
  limits: SubjectLimits
  /** Requests of this instance that are under way. */
  running: number
  changes: Map<Moment, Use>
  /** Requests at the same time have ended, for which others may wait. */
  hasMoved: boolean
}

/** Where a request was counted, and when. */
interface Running {
  readonly subjects: readonly Known[]
  readonly moment: Moment
}

export function createSharedDesk(parts: SharedDeskParts) {
  const { store, now } = parts
  const known = new Map<string, Known>()
  const due = new Set<Known>()
  const running = new Map<number, Running>()
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
    take(subjects: readonly string[], tokens: number): Promise<Grant> {
      parts.look()
      return new Promise((resolve, reject) => {
        const request = { subjects, tokens, resolve, reject }
        if (parts.isAway()) return countAlone(request, undefined)
        waiting.push(request)
        pump()
      })
    },
    end: (ticket: number, tokens: number) => end(ticket, { requests: 0, tokens }),
    undo: (ticket: number, tokens: number) => end(ticket, { requests: -1, tokens: -tokens }),
    settle,
    async close() {
      isClosed = true
      clearTimeout(timer)
      await settle()
    },
  }

  /** Reports to the storage now what is due. */
  async function settle(): Promise<void> {
    await asking
    pump()
    await asking
  }

  function knownOf(subject: string): Known | undefined {
    const document = parts.find(subject)
    const found = known.get(subject)
    // A limit that was removed meanwhile counts nothing.
    if (!document) {
      if (found) due.delete(found)
      known.delete(subject)
      return undefined
    }
    if (found) {
      if (found.limits.document !== document) found.limits.change(document)
      return found
    }
    const limits = new SubjectLimits(subject, document)
    const added = { subject, limits, running: 0, changes: new Map(), hasMoved: false }
    known.set(subject, added)
    return added
  }

  function knownAmong(subjects: readonly string[]): readonly Known[] {
    return subjects.flatMap((subject) => knownOf(subject) ?? [])
  }

  /** The time by the database's clock, as far as it is known. */
  function time(): number {
    return now() + ahead
  }

  /** Begins a request that was counted. */
  function granted(subjects: readonly Known[], moment: Moment, headers: ReturnType<typeof headersOf>): Grant {
    const ticket = ++last
    running.set(ticket, { subjects, moment })
    for (const each of subjects) each.running++
    return { ticket, headers: (names) => headers[names] }
  }

  function end(ticket: number, change: Use): void {
    const { subjects, moment } = running.get(ticket) ?? { subjects: [], moment: {} }
    running.delete(ticket)
    for (const each of subjects) {
      each.running--
      each.limits.leave()
      note(each, moment, change)
      each.limits.adjust(moment.counted ?? slotsAt(time()), change.requests, change.tokens, time())
      each.hasMoved ||= isParallel(each)
      if (!isDue(each) || known.get(each.subject) !== each) continue
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
      do await ask()
      while (waiting.length > 0)
      asking = undefined
      if (due.size > 0) wake(hasFailed ? retryMs : [...due].some(({ hasMoved }) => hasMoved) ? 0 : returnMs)
    })()
  }

  async function ask(): Promise<void> {
    const requests = waiting
    waiting = []
    const subjects = new Set([...requests.flatMap((each) => each.subjects), ...[...due].map((each) => each.subject)])
    const reports = new Map(knownAmong([...subjects]).map((each) => [each.subject, report(each)]))
    due.clear()
    if (reports.size === 0 && requests.length === 0) return
    let counting: Counting
    try {
      hasFailed = false
      counting = await store.share([...reports.keys()], (stored, at) => countShared(reports, requests, stored, at))
    } catch (reason) {
      hasFailed = true
      for (const [subject, { changes }] of reports) {
        const each = known.get(subject)
        if (!each) continue
        for (const [moment, use] of changes) note(each, moment, use)
        each.hasMoved = isParallel(each)
        if (isDue(each)) due.add(each)
      }
      for (const request of requests) countAlone(request, reason)
      return
    }
    await receive(requests, reports, counting)
  }

  async function receive(
    requests: readonly Waiting[],
    reports: ReadonlyMap<string, Report>,
    { answers, subjects, counted, at }: Counting,
  ): Promise<void> {
    ahead = at - now()
    for (const [subject, limits] of subjects) {
      const { changes, places } = reports.get(subject)!
      for (const moment of changes.keys()) moment.counted ??= counted
      const each = known.get(subject)
      if (!each) continue
      // What was done since the question was sent.
      limits.run(each.running - places)
      for (const [then, { requests, tokens }] of each.changes)
        limits.adjust(then.counted ?? slotsAt(at), requests, tokens, at)
      const { document } = each.limits
      each.limits = limits
      if (limits.document !== document) limits.change(document)
    }
    const moment: Moment = { counted }
    const full: (readonly [Waiting, LimitRefusal])[] = []
    for (const [index, request] of requests.entries()) {
      const answer = answers[index]!
      if ('headers' in answer) {
        const counting = request.subjects.flatMap((subject) =>
          subjects.has(subject) ? (known.get(subject) ?? []) : [],
        )
        request.resolve(granted(counting, moment, answer.headers))
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
    const counting = knownAmong(subjects)
    const limits = counting.map((each) => each.limits)
    const at = time()
    if (!limits.every((each) => each.fits(tokens, at))) return reject(refusalBy(limits, tokens, at))
    const moment: Moment = {}
    for (const each of counting) {
      each.limits.take(tokens, at)
      note(each, moment, { requests: 1, tokens })
      each.hasMoved = isParallel(each)
      if (isDue(each)) due.add(each)
    }
    resolve(granted(counting, moment, headersOf(limits, at)))
    wake(retryMs)
  }
}

/** Notes a change for the storage, of what is limited. */
function note({ limits, changes }: Known, moment: Moment, { requests, tokens }: Use): void {
  const before = changes.get(moment) ?? { requests: 0, tokens: 0 }
  const { rpm, rpd, countsTokens } = limits
  const use = {
    requests: before.requests + ((rpm ?? rpd) ? requests : 0),
    tokens: before.tokens + (countsTokens ? tokens : 0),
  }
  if (use.requests !== before.requests || use.tokens !== before.tokens) changes.set(moment, use)
}

/** What a question tells the storage; it is reported then. */
function report(each: Known): Report {
  const { limits, running, changes } = each
  each.changes = new Map()
  each.hasMoved = false
  return { document: limits.document, changes, places: running }
}

function isParallel({ limits }: Known): boolean {
  return limits.document.parallel !== undefined
}

function isDue({ hasMoved, changes }: Known): boolean {
  return hasMoved || changes.size > 0
}

/** Failures of a storage that is away, or busy for longer than a request waits. */
const passing: ReadonlySet<string> = new Set(['unavailable', 'busy', 'timeout', 'io'])

function unavailable(reason: AppError | undefined): AppError {
  if (reason?.code === 'unavailable') return reason
  const why = reason ? `: ${reason.message}` : ''
  return new AppError('unavailable', `The requests cannot be counted now${why}`, { retryAfter: 2, cause: reason })
}
