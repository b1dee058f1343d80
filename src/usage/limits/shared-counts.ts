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

export interface Use {
  readonly requests: number
  readonly tokens: number
}

/** When the storage counted a request; empty before it knows of it. */
export interface Moment {
  counted?: Counted
}

export interface Report {
  readonly document: LimitDocument
  /** Changes of what was counted then, or is counted now. */
  readonly changes: ReadonlyMap<Moment, Use>
  /** Requests of this instance that are under way. */
  readonly places: number
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

export interface Counting {
  readonly answers: readonly Answered[]
  /** The counts over all instances of those reported subjects that have limits. */
  readonly subjects: ReadonlyMap<string, SubjectLimits>
  readonly counted: Counted
  readonly at: number
}

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
  for (const [subject, { document, changes, places }] of reports) {
    const shared = stored.get(subject)
    if (!shared) continue
    const limits = new SubjectLimits(subject, document)
    for (const name of windowNames) limits.load(name, shared.windows[name] ?? [], at)
    for (const [moment, { requests, tokens }] of changes) limits.adjust(moment.counted ?? counted, requests, tokens, at)
    limits.run(shared.elsewhere + places)
    states.set(subject, limits)
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
  for (const [subject, limits] of states)
    counts.set(subject, {
      windows: Object.fromEntries(windowNames.flatMap((name) => (limits[name] ? [[name, limits[name].save(at)]] : []))),
      here: limits.document.parallel === undefined ? 0 : reports.get(subject)!.places + (granted.get(subject) ?? 0),
    })
  return { counts, result: { answers, subjects: states, counted, at } }
}
