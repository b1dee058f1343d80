import type { LimitDocument } from './documents.ts'
import type { LimitRefusal } from './refusals.ts'
import type { ChangedCounts, SharedCounts } from './store.ts'
import {
  type Counted,
  type HeadersByApi,
  headersOf,
  refusalBy,
  SubjectLimits,
  slotsAt,
  windowNames,
} from './subject-limits.ts'
import type { Window } from './windows.ts'

/** Requests and their tokens. */
export interface Use {
  readonly requests: number
  readonly tokens: number
}

export const none: Use = { requests: 0, tokens: 0 }

export function sum(a: Use, b: Use): Use {
  return { requests: a.requests + b.requests, tokens: a.tokens + b.tokens }
}

/** What is leased beyond the requests at hand, for those that come next. */
interface Extra extends Use {
  /** Requests at the same time. */
  readonly places: number
}

/** What this instance reports a subject. */
export interface Report {
  readonly document: LimitDocument
  /** Changes of what was counted before; without a time, of what is counted now. */
  readonly changes: readonly (readonly [counted: Counted | undefined, use: Use])[]
  /** Requests of this instance that are under way, or have a place kept. */
  readonly places: number
  /** What it would use soon, in addition to the requests that it asks for. */
  readonly soon: Use
}

/** A request that asks to be counted for subjects. */
export interface Asking {
  readonly subjects: readonly string[]
  readonly tokens: number
}

/** The answer to a request: its headers where it was counted. */
type Answered =
  | { readonly headers: HeadersByApi }
  | { readonly refusal: LimitRefusal /** By requests at the same time alone. */; readonly isFull: boolean }

/** A subject once the requests were counted. */
export interface CountedSubject {
  /** Its counts over all instances, without the extra. */
  readonly limits: SubjectLimits
  readonly extra: Extra
}

export interface Counting {
  readonly answers: readonly Answered[]
  /** Those of the reported subjects that have limits. */
  readonly subjects: ReadonlyMap<string, CountedSubject>
  readonly counted: Counted
  readonly at: number
}

/** An extra is at most one of so many parts of a limit, and of what is left of it. */
const partOfLimit = 40
const partOfRest = 8

/** Counts requests in the order in which they came, each for all its subjects or for none, in the counts of all instances. */
export function countShared(
  reports: ReadonlyMap<string, Report>,
  requests: readonly Asking[],
  stored: ReadonlyMap<string, SharedCounts>,
  at: number,
): { readonly counts: ReadonlyMap<string, ChangedCounts>; readonly result: Counting } {
  const counted = slotsAt(at)
  const states = new Map<string, SubjectLimits>()
  const granted = new Map<string, number>()
  const wanted = new Map<string, Use>()
  for (const [subject, { document, changes, places, soon }] of reports) {
    const shared = stored.get(subject)
    if (!shared) continue
    const limits = new SubjectLimits(subject, document)
    for (const name of windowNames) limits.load(name, shared.windows[name] ?? [], at)
    for (const [then, { requests, tokens }] of changes) limits.adjust(then ?? counted, requests, tokens, at)
    limits.run(shared.elsewhere + places)
    states.set(subject, limits)
    wanted.set(subject, soon)
  }
  const answers = requests.map(({ subjects, tokens }): Answered => {
    const counting = subjects.flatMap((subject) => states.get(subject) ?? [])
    if (!counting.every((each) => each.fits(tokens, at))) {
      const isFull = counting.every((each) => each.slowest(tokens, at) === undefined)
      return { refusal: refusalBy(counting, tokens, at), isFull }
    }
    for (const each of counting) {
      each.take(tokens, at)
      granted.set(each.subject, (granted.get(each.subject) ?? 0) + 1)
    }
    return { headers: headersOf(counting, at) }
  })
  const counts = new Map<string, ChangedCounts>()
  const subjects = new Map<string, CountedSubject>()
  for (const [subject, limits] of states) {
    const extra = extraOf(limits, wanted.get(subject)!, at)
    limits.adjust(counted, extra.requests, extra.tokens, at)
    const here = reports.get(subject)!.places + (granted.get(subject) ?? 0) + extra.places
    counts.set(subject, {
      windows: Object.fromEntries(windowNames.flatMap((name) => (limits[name] ? [[name, limits[name].save(at)]] : []))),
      here: limits.document.parallel === undefined ? 0 : here,
    })
    limits.adjust(counted, -extra.requests, -extra.tokens, at)
    subjects.set(subject, { limits, extra })
  }
  return { counts, result: { answers, subjects, counted, at } }
}

/** The most of a limit that one instance may hold unused. */
export function partOf(limit: number): number {
  return Math.floor(limit / partOfLimit)
}

const noExtra: Extra = { ...none, places: 0 }

/** The extra for what is used soon: enough of everything that its limits count for a request more, or nothing. */
function extraOf(limits: SubjectLimits, soon: Use, at: number): Extra {
  if (soon.requests === 0) return noExtra
  const { rpm, rpd, tpm, tpd, document, free } = limits
  const spareOf = (windows: readonly (Window | undefined)[], most: number) =>
    windows.reduce(
      (least, window) =>
        window ? Math.min(least, partOf(window.limit), Math.floor(window.remaining(at) / partOfRest)) : least,
      most,
    )
  const requests = spareOf([rpm, rpd], soon.requests)
  const tokens = limits.countsTokens ? spareOf([tpm, tpd], soon.tokens) : 0
  const places =
    document.parallel === undefined
      ? undefined
      : Math.min(soon.requests, partOf(document.parallel), Math.floor(free / partOfRest))
  const isEnough = requests > 0 && places !== 0 && tokens >= (limits.countsTokens ? soon.tokens / soon.requests : 0)
  return isEnough ? { requests, tokens, places: places ?? 0 } : noExtra
}
